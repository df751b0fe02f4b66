import Testing

@testable import TapeCore

@Suite struct HARWriterBodiesTests {
    /// Bodies that lie in no file: an octet sequence cut into pieces of odd sizes.
    private struct Pieces: HARBodySource {
        var octets: [UInt8]
        var size: Int

        func read(_ body: Body, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
            for start in stride(from: 0, to: self.octets.count, by: self.size) {
                try self.octets[start..<min(start + self.size, self.octets.count)].withUnsafeBytes(deliver)
            }
        }
    }

    /// The same octets again and again, for bodies that no memory should hold.
    private struct Endless: HARBodySource {
        var piece = [UInt8](repeating: 0xAB, count: 1 << 20)
        var count: Int

        func read(_ body: Body, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
            for _ in 0..<self.count { try self.piece.withUnsafeBytes(deliver) }
        }
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
        let octets = Array("\u{0}음식 \"a\"".utf8)
        let source = Pieces(octets: octets, size: size)
        let text = try HARExport.entry(HARExport.response(Body(size: 11, content: sidecar), ["Content-Type: text/html"]), bodies: source)
        #expect(text["response"]?["content"]?["text"]?.utf8 == octets)
        let binary = try HARExport.entry(HARExport.response(Body(size: 11, content: sidecar), ["Content-Type: image/png"]), bodies: source)
        #expect(binary["response"]?["content"]?["text"]?.utf8.flatMap { Base64.decode($0) } == octets)
        // Says it is text and is not.
        let cut = Pieces(octets: octets.dropLast(4) + [0xEC], size: size)
        let odd = try HARExport.entry(HARExport.response(Body(size: 11, content: sidecar), ["Content-Type: text/html"]), bodies: cut)
        #expect(odd["response"]?["content"]?["text"]?.utf8.flatMap { Base64.decode($0) } == cut.octets)
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
        var developer = BodyDeveloper(makeDigest: { TestDigest() })
        var sink = MemorySink()
        var interaction = HARExport.response(Body(size: 0, content: .empty))
        interaction.request.headers = HeaderFields(["Content-Type: multipart/form-data; boundary=X"])
        interaction.request.body = try developer.develop(wire, headers: interaction.request.headers, origin: "", sink: &sink)
        let params = try HARExport.entry(interaction)["request"]?["postData"]?["params"]?.elements.map { $0 } ?? []
        #expect(params.map { $0["name"]?.string } == ["_charset_", "음"])
        #expect(params.map { $0["value"]?.string } == ["EUC-KR", "음"])
    }

    @Test func partsAreParametersWithTheirFiles() throws {
        let wire = Array(MultipartFixture.form.utf8)
        var developer = BodyDeveloper(makeDigest: { TestDigest() })
        var sink = MemorySink()
        var interaction = HARExport.response(Body(size: 0, content: .empty))
        interaction.request.headers = HeaderFields(["Content-Type: multipart/form-data; boundary=X"])
        interaction.request.body = try developer.develop(wire, headers: interaction.request.headers, origin: "", sink: &sink)
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

    @Test func textOfOtherCharsetsIsExportedDecoded() throws {
        let body = Body(size: 4, content: .encodedText([0xC0, 0xBD, 0xBD, 0xC4], .eucKR))
        let content = try HARExport.entry(HARExport.response(body))["response"]?["content"]
        #expect(content?["text"]?.string == "음식" && content?["size"]?.int == 4)
    }
}
