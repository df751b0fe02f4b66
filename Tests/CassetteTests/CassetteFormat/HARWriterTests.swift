@testable import CassetteFormat
@testable import CassetteModel
@testable import TapeBytes
import Testing

@Suite struct HARWriterTests {
    @Test func anEmptyLogIsAnArchive() throws {
        let log = try #require(HARExport.export([])["log"])
        #expect(log["version"]?.string == "1.2")
        #expect(HARExport.text(log["creator"]) == #"{ "name": "wiretape", "version": "0.1.0" }"#)
        #expect(HARExport.text(log["entries"]) == "[]")
        #expect(log["pages"] == nil)
    }

    @Test func allGoldenInteractionsAreOneArchive() throws {
        let interactions = GoldenInteractions.all.flatMap(\.interactions)
        let root = try HARExport.export(interactions)
        #expect(root["log"]?["entries"]?.elements.map { $0["request"]?["url"]?.string } == interactions.map(\.request.url))
    }

    @Test(arguments: ["application/grpc", "application/grpc+json"]) func aCallIsExportedAsItCrossedTheWire(type: String) throws {
        var call = Interaction.call([ProtoMessage(fields: [.text(1, "Rex")])], [.fields(.text(1, "ok"), after: 0)])
        call.request.headers = HeaderFields(["content-type: \(type)"])
        let entry = try HARExport.entry(call)
        let request = try #require(entry["request"])
        #expect(request["httpVersion"]?.string == "http/2.0")
        #expect(request["postData"]?["text"]?.string == "AAAAAAUKA1JleA==")
        #expect(request["postData"]?["_encoding"]?.string == "base64")
        #expect(request["_trailers"] == nil)
        let response = try #require(entry["response"])
        #expect(response["content"]?["text"]?.string == "AAAAAAQKAm9r")
        #expect(response["content"]?["encoding"]?.string == "base64")
        #expect(HARExport.text(response["_trailers"])?.contains(#"{ "name": "grpc-status", "value": "0" }"#) == true)
    }

    @Test func requestAndResponseAreListed() throws {
        let entry = try HARExport.entry(
            Interaction(
                id: 1, started: Timestamp(microseconds: 0),
                request: RecordedRequest(
                    method: "GET", url: "http://a/?x=1&y=%ED%95%9C+%zz&&z#?f=1",
                    headers: HeaderFields(["Cookie: a=1; b=\"2=3\"", "X:  y "])),
                response: RecordedResponse(
                    status: 302, reason: Array("Found".utf8),
                    headers: HeaderFields([
                        "Location: /b", "Set-Cookie: id=7; Path=/; Expires=Sat, 21-Nov-2026 04:19:28 GMT; HttpOnly; Secure; path=/x",
                        "Set-Cookie: bad",
                    ])), connection: ConnectionInfo(id: 4, remote: "[::1]:9000", isReused: false)))
        let request = try #require(entry["request"])
        #expect(
            request["queryString"]?.elements.map { HARExport.text($0) } == [
                #"{ "name": "x", "value": "1" }"#, #"{ "name": "y", "value": "한 %zz" }"#, #"{ "name": "z", "value": "" }"#,
            ])
        #expect(
            request["cookies"]?.elements.map { HARExport.text($0) } == [
                #"{ "name": "a", "value": "1" }"#, #"{ "name": "b", "value": "\"2=3\"" }"#,
            ])
        #expect(request["headers"]?.elements.map { $0["value"]?.string } == [#"a=1; b="2=3""#, "y"])
        let response = try #require(entry["response"])
        #expect(response["redirectURL"]?.string == "/b")
        #expect(
            response["cookies"]?.elements.map { HARExport.text($0) } == [
                #"{ "name": "id", "value": "7", "expires": "2026-11-21T04:19:28.000000Z", "path": "/x", "httpOnly": true, "secure": true }"#
            ])
        #expect(entry["serverIPAddress"]?.string == "::1")
        #expect(entry["connection"]?.string == "4")
    }

    @Test func theHeadsSizeIsThatOfTheWire() throws {
        let entry = try HARExport.entry(HARExport.response(Body(size: 0, content: .empty), ["A: b"]))
        #expect(entry["response"]?["headersSize"]?.int == "HTTP/1.1 200 OK\r\nA: b\r\n\r\n".utf8.count)
        #expect(entry["response"]?["bodySize"]?.int == 0)
    }

    @Test func headsOfHTTP2HaveNoSize() throws {
        var interaction = HARExport.response(Body(size: 0, content: .empty), ["a: b"])
        interaction.response?.version = .http2
        let entry = try HARExport.entry(interaction)
        #expect(entry["response"]?["headersSize"]?.int == -1 && entry["response"]?["httpVersion"]?.string == "http/2.0")
        interaction.response?.version = .http11
        interaction.response?.reason = []
        interaction.response?.omitsReasonSpace = true
        let short = try HARExport.entry(interaction)
        #expect(short["response"]?["headersSize"]?.int == "HTTP/1.1 200\r\na: b\r\n\r\n".utf8.count)
    }

    @Test func absentPhasesAreMinusOneWhereHARAllowsIt() throws {
        var interaction = HARExport.response(Body(size: 0, content: .empty))
        interaction.timing = Timing(connect: 1, tls: 2, wait: 3.5, total: 9)
        let entry = try HARExport.entry(interaction)
        #expect(
            HARExport.text(entry["timings"])
                == #"{ "blocked": -1, "dns": -1, "connect": 3, "send": 0, "wait": 3.5, "receive": 0, "ssl": 2 }"#)
        #expect(entry["time"]?.double == 6.5)
    }

    @Test func aHandshakeIsAMemberOfItsOwn() throws {
        var interaction = HARExport.response(Body(size: 0, content: .empty))
        #expect(try HARExport.entry(interaction)["_tls"] == nil)
        let tls = TLSDetails(version: "TLSv1.3", cipher: "TLS_AES_128_GCM_SHA256", alpn: "http/1.1").withoutChain
        interaction.connection = ConnectionInfo(id: 1, remote: "192.0.2.1:443", isReused: true, tls: tls)
        #expect(
            try HARExport.text(HARExport.entry(interaction)["_tls"])
                == #"{ "version": "TLSv1.3", "cipher": "TLS_AES_128_GCM_SHA256", "alpn": "http/1.1" }"#)
    }

    @Test func failedAndCutExchangesSaySo() throws {
        var interaction = HARExport.response(Body(size: 4, isComplete: false, content: .text(Array("half".utf8))))
        interaction.outcome = .cut(Cut(by: .origin, reason: "closed"))
        #expect(try HARExport.entry(interaction)["response"]?["_error"]?.string == "cut by the origin: closed")
        interaction.response = nil
        interaction.outcome = .failed(Failure(kind: .dns, message: "no such host"))
        let response = try HARExport.entry(interaction)["response"]
        #expect(response?["status"]?.int == 0)
        #expect(response?["_error"]?.string == "dns: no such host")
        #expect(response?["bodySize"]?.int == -1)
    }

    /// HAR 1.2: `time` is the sum of the timings without those of -1; `ssl` is included in `connect`.
    @Test(
        arguments: [
            (Failure.Kind.dns, "GET", "dns"), (.refused, "CONNECT", "connect"), (.tls, "GET", "connect"), (.timeout, "CONNECT", "connect"),
            (.timeout, "GET", "wait"), (.reset, "GET", "wait"),
        ] as [(Failure.Kind, String, String)])
    func timingsOfAFailureAddUpToItsTime(kind: Failure.Kind, method: String, phase: String) throws {
        let interaction = Interaction(
            id: 1, started: Timestamp(microseconds: 0), request: RecordedRequest(method: method, url: "https://a/"), response: nil,
            outcome: .failed(Failure(kind: kind, message: "no")), timing: Timing(total: 12.5))
        let entry = try HARExport.entry(interaction)
        #expect(entry["time"]?.double == 12.5)
        let names = ["blocked", "dns", "connect", "send", "wait", "receive"]
        let times = names.compactMap { name in entry["timings"]?[name]?.double }.filter { $0 > 0 }
        #expect(times == [12.5])
        #expect(entry["timings"]?[phase]?.double == 12.5)
    }

    /// A cassette has no phase of its own for a wait without a result.
    @Test func theTimeUntilAnEndWithoutAnAnswerIsInItsPhase() throws {
        var interaction = HARExport.response(Body(size: 4, isComplete: false, content: .text(Array("half".utf8))))
        interaction.timing = Timing(connect: 2, send: 0.5, wait: 1, total: 60_000)
        interaction.outcome = .cut(Cut(by: .origin, reason: "closed"))
        let cut = try HARExport.entry(interaction)
        #expect(cut["time"]?.double == 60_000 && cut["timings"]?["receive"]?.double == 59_996.5)
        interaction.response = nil
        interaction.timing = Timing(connect: 2, send: 0.5, total: 60_000)
        interaction.outcome = .failed(Failure(kind: .timeout, message: "no"))
        let late = try HARExport.entry(interaction)
        #expect(late["time"]?.double == 60_000 && late["timings"]?["wait"]?.double == 59_997.5)
    }
}

@Suite struct HARWriterBodiesTests {
    /// Bodies without a file: a byte sequence, cut into pieces of odd sizes.
    private struct Pieces: HARBodySource {
        var bytes: [UInt8]
        var size: Int

        func read(_ body: Body, headers: HeaderFields, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
            for start in stride(from: 0, to: self.bytes.count, by: self.size) {
                try self.bytes[start..<min(start + self.size, self.bytes.count)].withUnsafeBytes(deliver)
            }
        }

        func readMessages(_ messages: WebSocketMessages, _ deliver: (WebSocketMessage) throws -> Void) {}
    }

    /// Repeats the same bytes, for bodies that must not be held in memory.
    private struct Endless: HARBodySource {
        var piece = [UInt8](repeating: 0xAB, count: 1 << 20)
        var count: Int

        func read(_ body: Body, headers: HeaderFields, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
            for _ in 0..<self.count { try self.piece.withUnsafeBytes(deliver) }
        }

        func readMessages(_ messages: WebSocketMessages, _ deliver: (WebSocketMessage) throws -> Void) {}
    }

    /// In the form of browsers, wherever the messages are.
    @Test(arguments: [true, false]) func aConversationHasItsTextAndBinaryMessages(isInFile: Bool) throws {
        struct Said: HARBodySource {
            var messages: [WebSocketMessage]
            func read(_ body: Body, headers: HeaderFields, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {}
            func readMessages(_ messages: WebSocketMessages, _ deliver: (WebSocketMessage) throws -> Void) throws {
                for message in self.messages { try deliver(message) }
            }
        }
        let messages = [
            WebSocketMessage(at: 1.5, from: .client, content: .text(.text(Array("hi".utf8)))),
            WebSocketMessage(at: 2, from: .server, content: .ping([1])),
            WebSocketMessage(at: 1000, from: .server, content: .binary(.bytes([0, 255]))),
            WebSocketMessage(at: 1001, from: .server, content: .close(WebSocketClose(code: 1000))),
        ]
        var interaction = HARExport.response(Body(size: 0, content: .empty))
        interaction.started = Timestamp(microseconds: 7_000_000)
        interaction.webSocket = isInFile ? .file(Sidecar(path: "a", size: 1, sha256: ""), count: 4) : .inline(messages)
        let entry = try HARExport.entry(interaction, bodies: Said(messages: messages))
        #expect(entry["request"]?["url"]?.string == "ws://a/" && entry["_resourceType"]?.string == "websocket")
        #expect(
            entry["_webSocketMessages"]?.elements.map { HARExport.text($0) } == [
                #"{ "type": "send", "time": 7.001500, "opcode": 1, "data": "hi" }"#,
                #"{ "type": "receive", "time": 8.000000, "opcode": 2, "data": "AP8=" }"#,
            ])
    }

    /// Each event has the time of the read or chunk that completed it.
    @Test(arguments: [true, false]) func aStreamHasItsEvents(isInFile: Bool) throws {
        let bytes = Array("data: one\n\nid: 7\nevent: price\ndata: two\n\n".utf8)
        let content = isInFile ? BodyContent.file(Sidecar(path: "a", size: bytes.count, sha256: "")) : .text(bytes)
        let arrival = Arrival(isChunked: true, pieces: [Arrival.Piece(at: 1, size: 11), Arrival.Piece(at: 500, size: bytes.count - 11)])
        var interaction = HARExport.response(
            Body(size: bytes.count, content: content, arrival: arrival), ["Content-Type: text/event-stream; charset=utf-8"])
        interaction.timing = Timing(send: 1, wait: 2, total: 600)
        let entry = try HARExport.entry(interaction, bodies: Pieces(bytes: bytes, size: 5))
        #expect(entry["_resourceType"]?.string == "eventsource")
        #expect(
            entry["_eventSourceMessages"]?.elements.map { HARExport.text($0) } == [
                #"{ "time": 0.004000, "eventName": "message", "eventId": "", "data": "one" }"#,
                #"{ "time": 0.503000, "eventName": "price", "eventId": "7", "data": "two" }"#,
            ])
    }

    /// Only forms have params in HAR; the parts of other types are written as text.
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

    /// The archived form of each coding's body, starting from the wire.
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

    /// A gzip-coded upload: its parts are parameters, and its size is the size on the wire.
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

    /// Members of an imported archive.
    @Test func membersThatOnlyAnArchiveHasAreWrittenAgain() throws {
        var interaction = HARExport.response(Body(size: 2, content: .text(Array("hi".utf8))))
        let kept = #"{"pageref": "p1", "cache": {"comment": "c"}, "response": {"headersSize": 7, "bodySize": 8, "compression": -3}}"#
        interaction.unknown = [UnknownMember(name: "har", json: Array(kept.utf8))]
        let entry = try HARExport.entry(interaction)
        #expect(entry["pageref"]?.string == "p1" && entry["cache"]?["comment"]?.string == "c")
        #expect(entry["response"]?["headersSize"]?.int == 7 && entry["response"]?["bodySize"]?.int == 8)
        #expect(entry["response"]?["content"]?["compression"]?.int == -3)
    }

    /// The client had removed the coding before the recorder saw the body.
    @Test func fieldsOfACodedBodyAreAmongTheOthers() throws {
        var interaction = HARExport.response(Body(size: 2, content: .text(Array("hi".utf8))))
        interaction.response?.headers = HeaderFields(["Content-Length: 2", "A: 1"])
        interaction.response?.codedHeaders = HeaderFields(["Content-Encoding: br", "Content-Length: 6"])
        let names = try HARExport.entry(interaction)["response"]?["headers"]?.elements.map { $0["name"]?.string }
        #expect(names == ["A", "Content-Encoding", "Content-Length"])
    }

    @Test func formsAreParametersAndTextAndOtherBodiesText() throws {
        var interaction = HARExport.response(Body(size: 0, content: .empty))
        interaction.request.body = Body(size: 7, content: .text(Array("a=1&b=%20".utf8)))
        interaction.request.headers = HeaderFields(["content-type: application/x-www-form-urlencoded"])
        let form = try HARExport.entry(interaction)["request"]?["postData"]
        #expect(form?["params"]?.elements.map { $0["value"]?.string } == ["1", " "])
        #expect(form?["text"]?.string == "a=1&b=%20")
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
        // Declared as text, but not valid text.
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

    /// A reader of the archive has only the type to turn the text back into bytes.
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
