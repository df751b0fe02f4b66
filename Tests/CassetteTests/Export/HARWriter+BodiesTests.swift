import Testing

@testable import CassetteFormat
@testable import CassetteModel
@testable import TapeBytes

@Suite struct HARWriterBodiesTests {
    /// Bodies that are in no file: a byte sequence cut into pieces of odd sizes.
    private struct Pieces: HARBodySource {
        var bytes: [UInt8]
        var size: Int

        func read(_ body: Body, headers: HeaderFields, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
            for start in stride(from: 0, to: self.bytes.count, by: self.size) {
                try self.bytes[start..<min(start + self.size, self.bytes.count)].withUnsafeBytes(deliver)
            }
        }
    }

    /// The same bytes again and again, for bodies that no memory should hold.
    private struct Endless: HARBodySource {
        var piece = [UInt8](repeating: 0xAB, count: 1 << 20)
        var count: Int

        func read(_ body: Body, headers: HeaderFields, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
            for _ in 0..<self.count { try self.piece.withUnsafeBytes(deliver) }
        }
    }

    /// Forms alone have params in HAR; parts of another kind are its text.
    @Test(arguments: ["multipart/mixed; boundary=X", "text/plain", "multipart/related; boundary=X"])
    func bodiesThatAreNoFormsKeepTheirText(type: String) throws {
        let text = "--X\r\nContent-Type: text/plain\r\n\r\none\r\n--X--\r\n"
        var interaction = HARExport.response(Body(size: 0, content: .empty))
        interaction.request.headers = HeaderFields(["Content-Type: \(type)"])
        interaction.request.body = Body(size: text.utf8.count, content: .text(Array(text.utf8)))
        let data = try HARExport.entry(interaction)["request"]?["postData"]
        #expect(data?["text"]?.string == text && data?["params"] == nil)
    }

    @Test func contentIsTextOrBase64WithItsSizes() throws {
        let gzipped = Body(size: 30, codings: [.gzip(nil, header: .plain)], content: .text(Array("a \"long\" text\n".utf8)))
        let text = try HARExport.entry(HARExport.response(gzipped, ["Content-Type: text/plain"]))["response"]?["content"]
        #expect(text?["text"]?.string == "a \"long\" text\n")
        #expect(text?["encoding"] == nil)
        #expect(text?["size"]?.int == 14)
        #expect(text?["compression"]?.int == -16)
        #expect(text?["mimeType"]?.string == "text/plain")

        let binary = try HARExport.entry(HARExport.response(Body(size: 4, content: .binary([0, 255, 1, 2]))))["response"]?["content"]
        #expect(binary?["text"]?.string == "AP8BAg==")
        #expect(binary?["encoding"]?.string == "base64")
    }

    /// What each coding's body is in an archive, from the wire on.
    @Test func bodiesOfAllCodingsAreTheirTextAndSizes() throws {
        let text = CodingFixtures.content
        let stacked = CodingFixtures.deflated(
            CodingFixtures.deflated(text, DeflateParameters(level: 9), .zlib), DeflateParameters(level: 6), .gzip)
        var cases: [([UInt8], String, [UInt8])] = [
            (CodingFixtures.gzip6, "gzip", text), (CodingFixtures.gzipNode, "gzip", text), (CodingFixtures.gzipFlushed, "gzip", text),
            (CodingFixtures.gzip6 + CodingFixtures.gzip1, "gzip", text + text), (stacked, "deflate, gzip", text),
            (CodingFixtures.zlib, "deflate", text), (CodingFixtures.rawNode, "deflate", text), (text, "identity", text),
        ]
        if ContentEncoding.Name.br.isSupported { cases.append((CodingFixtures.brotli11, "br", text)) }
        if ContentEncoding.Name.zstd.isSupported { cases.append((CodingFixtures.zstd3, "zstd", text)) }
        for (wire, coding, decoded) in cases {
            let headers = ["Content-Type: text/plain", "Content-Encoding: \(coding)"]
            var decoder = WireBodyDecoder(makeDigest: { TestDigest() })
            var sink = MemorySink()
            let body = try decoder.decode(wire, headers: HeaderFields(headers), origin: "o", sink: &sink)
            let response = try HARExport.entry(HARExport.response(body, headers))["response"]
            #expect(response?["bodySize"]?.int == wire.count)
            let content = response?["content"]
            #expect(content?["size"]?.int == decoded.count)
            #expect(content?["compression"]?.int == (coding == "identity" ? nil : decoded.count - wire.count))
            #expect(content?["text"]?.utf8 == decoded)
            #expect(content?["encoding"] == nil && content?["comment"] == nil)
        }
    }

    @Test func aCorruptBodyIsItsBytesWithACommentThatSaysWhy() throws {
        let headers = ["Content-Type: text/plain", "Content-Encoding: gzip"]
        var wire = CodingFixtures.gzip6
        wire[wire.count - 8] ^= 1
        var decoder = WireBodyDecoder(makeDigest: { TestDigest() })
        var sink = MemorySink()
        let body = try decoder.decode(wire, headers: HeaderFields(headers), origin: "o", sink: &sink)
        var interaction = HARExport.response(body, headers)
        interaction.request.body = body
        interaction.request.headers = HeaderFields(headers)
        let entry = try HARExport.entry(interaction)
        let content = entry["response"]?["content"]
        #expect(content?["encoding"]?.string == "base64")
        #expect(content?["size"]?.int == wire.count && content?["compression"] == nil)
        #expect(content?["comment"]?.string == "content coding is not taken off: wrong gzip checksum at offset 194")
        #expect(entry["request"]?["postData"]?["comment"]?.string == content?["comment"]?.string)
        #expect(entry["request"]?["bodySize"]?.int == wire.count)
    }

    @Test func aBodyThatIsNotDecodedHasTheSizesOfItsText() throws {
        let bytes = Array("what the source hands out, decoded".utf8)
        let slice = RawSlice(path: "a.bodies/undeveloped.raw", offset: 0, size: 20, crc32: 0)
        let headers = ["Content-Type: text/plain", "Content-Encoding: gzip"]
        let interaction = HARExport.response(Body(size: 20, content: .raw(slice)), headers)
        let content = try HARExport.entry(interaction, bodies: Pieces(bytes: bytes, size: 7))["response"]?["content"]
        #expect(content?["size"]?.int == bytes.count && content?["compression"]?.int == bytes.count - 20)
        #expect(content?["text"]?.utf8 == bytes)
    }

    /// A gzip-coded upload: its parts are parameters, its size that of the wire.
    @Test func partsOfACodedBodyAreParametersToo() throws {
        let form = Array("--X\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nvalue\r\n--X--\r\n".utf8)
        let wire = CodingFixtures.deflated(form, DeflateParameters(level: 6), .gzip)
        let headers = HeaderFields(["Content-Type: multipart/form-data; boundary=X", "Content-Encoding: gzip"])
        var decoder = WireBodyDecoder(makeDigest: { TestDigest() })
        var sink = MemorySink()
        var interaction = HARExport.response(Body(size: 0, content: .empty))
        interaction.request.headers = headers
        interaction.request.body = try decoder.decode(wire, headers: headers, origin: "o", sink: &sink)
        let request = try HARExport.entry(interaction)["request"]
        #expect(request?["postData"]?["params"]?.elements.map { $0["name"]?.string } == ["a"])
        #expect(request?["postData"]?["params"]?.elements.map { $0["value"]?.string } == ["value"])
        #expect(request?["bodySize"]?.int == wire.count)
    }

    @Test func formsAreParametersAndOtherBodiesText() throws {
        var interaction = HARExport.response(Body(size: 0, content: .empty))
        interaction.request.body = Body(size: 7, content: .text(Array("a=1&b=%20".utf8)))
        interaction.request.headers = HeaderFields(["content-type: application/x-www-form-urlencoded"])
        let form = try HARExport.entry(interaction)["request"]?["postData"]
        #expect(form?["params"]?.elements.map { $0["value"]?.string } == ["1", " "])
        #expect(form?["text"] == nil)
        interaction.request.headers = HeaderFields(["Content-Type: text/plain"])
        #expect(try HARExport.entry(interaction)["request"]?["postData"]?["text"]?.string == "a=1&b=%20")
    }

    @Test(arguments: [1, 2, 3, 4, 5, 1000])
    func filesAreReadInPieces(_ size: Int) throws {
        let sidecar = BodyContent.file(Sidecar(path: "a.bodies/x", size: 11, sha256: ""))
        let bytes = Array("\u{0}음식 \"a\"".utf8)
        let source = Pieces(bytes: bytes, size: size)
        let text = try HARExport.entry(HARExport.response(Body(size: 11, content: sidecar), ["Content-Type: text/html"]), bodies: source)
        #expect(text["response"]?["content"]?["text"]?.utf8 == bytes)
        let binary = try HARExport.entry(HARExport.response(Body(size: 11, content: sidecar), ["Content-Type: image/png"]), bodies: source)
        #expect(binary["response"]?["content"]?["text"]?.utf8.flatMap { Base64.decode($0) } == bytes)
        // Says it is text and is not.
        let cut = Pieces(bytes: bytes.dropLast(4) + [0xEC], size: size)
        let odd = try HARExport.entry(HARExport.response(Body(size: 11, content: sidecar), ["Content-Type: text/html"]), bodies: cut)
        #expect(odd["response"]?["content"]?["text"]?.utf8.flatMap { Base64.decode($0) } == cut.bytes)
    }

    @Test func aFileWithoutASourceIsLeftOut() throws {
        let body = Body(size: 11, content: .file(Sidecar(path: "a.bodies/x", size: 11, sha256: "")))
        let content = try HARExport.entry(HARExport.response(body))["response"]?["content"]
        #expect(content?["text"] == nil)
        #expect(content?["comment"] != nil)
        #expect(content?["size"]?.int == 11)
    }

    @Test func largeBodiesReachTheSinkInSmallPieces() throws {
        var largest = 0
        var total = 0
        var writer = HARWriter(bodies: Endless(count: 8)) {
            largest = max(largest, $0.count)
            total += $0.count
        }
        try writer.begin(creator: "wiretape", version: "0")
        try writer.append(HARExport.response(Body(size: 8 << 20, content: .file(Sidecar(path: "x", size: 8 << 20, sha256: "")))))
        try writer.end()
        #expect(total > (8 << 20) / 3 * 4)
        #expect(largest < 256 << 10)
    }

    @Test func partsAreShownWithoutTheirTransferEncodingAndNamedInTheFormsCharset() throws {
        let field = "--X\r\nContent-Disposition: form-data; name="
        var wire = Array("\(field)_charset_\r\n\r\nEUC-KR\r\n\(field)".utf8) + [0xC0, 0xBD]
        wire += Array("\r\nContent-Transfer-Encoding: base64\r\n\r\nwL0=\r\n--X--\r\n".utf8)
        var decoder = WireBodyDecoder(makeDigest: { TestDigest() })
        var sink = MemorySink()
        var interaction = HARExport.response(Body(size: 0, content: .empty))
        interaction.request.headers = HeaderFields(["Content-Type: multipart/form-data; boundary=X"])
        interaction.request.body = try decoder.decode(wire, headers: interaction.request.headers, origin: "", sink: &sink)
        let params = try HARExport.entry(interaction)["request"]?["postData"]?["params"]?.elements.map { $0 } ?? []
        #expect(params.map { $0["name"]?.string } == ["_charset_", "음"])
        #expect(params.map { $0["value"]?.string } == ["EUC-KR", "음"])
    }

    @Test func partsAreParametersWithTheirFiles() throws {
        let wire = Array(MultipartFixture.form.utf8)
        var decoder = WireBodyDecoder(makeDigest: { TestDigest() })
        var sink = MemorySink()
        var interaction = HARExport.response(Body(size: 0, content: .empty))
        interaction.request.headers = HeaderFields(["Content-Type: multipart/form-data; boundary=X"])
        interaction.request.body = try decoder.decode(wire, headers: interaction.request.headers, origin: "", sink: &sink)
        let request = try HARExport.entry(interaction)["request"]
        let params = request?["postData"]?["params"]?.elements.map { $0 } ?? []
        #expect(params.map { $0["name"]?.string } == ["food", "pet"])
        #expect(params.map { $0["fileName"]?.string } == [nil, "a.jpg"])
        #expect(params.map { $0["contentType"]?.string } == [nil, "image/jpeg"])
        #expect(params.map { $0["value"]?.string } == ["음식", "AQ0KAg=="])
        #expect(params.last?["_encoding"]?.string == "base64")
        #expect(request?["postData"]?["text"] == nil && request?["bodySize"]?.int == wire.count)

        let answer = try HARExport.entry(
            HARExport.response(interaction.request.body ?? Body(size: 0, content: .empty), ["Content-Type: multipart/mixed"]))
        #expect(answer["response"]?["content"]?["size"]?.int == wire.count)
        #expect(answer["response"]?["content"]?["text"]?.utf8 == wire)
    }

    @Test func textOfACharsetThatTheTypeNamesIsExportedDecoded() throws {
        let body = Body(size: 4, content: .encodedText([0xC0, 0xBD, 0xBD, 0xC4], .eucKR))
        let content = try HARExport.entry(HARExport.response(body, ["Content-Type: text/plain; charset=euc-kr"]))["response"]?["content"]
        #expect(content?["text"]?.string == "음식" && content?["size"]?.int == 4)
        #expect(content?["encoding"] == nil)
    }

    /// Who reads the archive has nothing but the type to make the bytes of the text again.
    @Test(
        arguments: [
            ([0xFF, 0xFE, 0x61, 0x00], Charset.utf16LittleEndian, "text/plain"),
            ([0xFE, 0xFF, 0x00, 0x61], .utf16BigEndian, "application/json"),
            ([0xFF, 0xFE, 0x61, 0x00], .utf16LittleEndian, "text/plain; charset=utf-8"), ([0xC0, 0xBD], .eucKR, "text/html"),
            ([0xFE, 0xFF, 0x00, 0x61], .utf16BigEndian, "text/plain; charset=utf-16le"),
        ] as [([UInt8], Charset, String)])
    func textOfACharsetThatTheTypeDoesNotNameIsExportedInBase64(bytes: [UInt8], charset: Charset, type: String) throws {
        let body = Body(size: bytes.count, content: .encodedText(bytes, charset))
        let content = try HARExport.entry(HARExport.response(body, ["Content-Type: \(type)"]))["response"]?["content"]
        #expect(content?["encoding"]?.string == "base64")
        #expect(content?["text"]?.string.flatMap { Base64.decode(Array($0.utf8)) } == bytes)
        #expect(content?["size"]?.int == bytes.count)
    }

    @Test func aFormWithAnotherBoundaryThanItsTypeNamesHasItsParts() throws {
        let wire =
            "--real\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none\r\n--real\r\nContent-Disposition: form-data; name=\"f\"; "
            + "filename=\"x.bin\"\r\nContent-Type: application/octet-stream\r\n\r\n\u{1}two\r\n--real--\r\n"
        var interaction = HARExport.response(Body(size: 0, content: .empty))
        interaction.request.headers = HeaderFields(["Content-Type: multipart/form-data; boundary=named"])
        interaction.request.body = Body(size: wire.utf8.count, content: .text(Array(wire.utf8)))
        let data = try HARExport.entry(interaction)["request"]?["postData"]
        let params = data?["params"].map { Array($0.elements) } ?? []
        #expect(params.map { $0["name"]?.string } == ["a", "f"])
        #expect(params.map { $0["value"]?.string } == ["one", "\u{1}two"])
        #expect(params.last?["fileName"]?.string == "x.bin")
        #expect(data?["text"] == nil)
        #expect(data?["comment"]?.string?.contains("boundary") == true)
    }

    @Test func aFormWithoutPartsStaysText() throws {
        var interaction = HARExport.response(Body(size: 0, content: .empty))
        interaction.request.headers = HeaderFields(["Content-Type: multipart/form-data; boundary=named"])
        interaction.request.body = Body(size: 4, content: .text(Array("a=b\n".utf8)))
        let data = try HARExport.entry(interaction)["request"]?["postData"]
        #expect(data?["text"]?.string == "a=b\n")
        #expect(data?["params"] == nil)
    }
}
