import Testing

@testable import TapeCore

@Suite struct HARWriterTests {
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

    private func export(_ interactions: [Interaction], bodies: (any HARBodySource)? = nil) throws -> JSONValue {
        var text: [UInt8] = []
        var writer = HARWriter(bodies: bodies) { text.append(contentsOf: $0) }
        try writer.begin(creator: "wiretape", version: "0.1.0")
        for interaction in interactions { try writer.append(interaction) }
        try writer.end()
        return try JSONDocument(text).root
    }

    private func entry(_ interaction: Interaction, bodies: (any HARBodySource)? = nil) throws -> JSONValue {
        let log = try #require(self.export([interaction], bodies: bodies)["log"])
        let entries = try #require(log["entries"])
        return try #require(entries.elements.first { _ in true })
    }

    private func text(_ value: JSONValue?) -> String? { value.map { String(decoding: $0.raw, as: UTF8.self) } }

    private func response(_ body: Body, _ headers: [String] = []) -> Interaction {
        Interaction(
            id: 1, started: Timestamp(microseconds: 0), request: RecordedRequest(method: "GET", url: "http://a/"),
            response: RecordedResponse(status: 200, reason: Array("OK".utf8), headers: HeaderFields(headers), body: body))
    }

    @Test func anEmptyLogIsAnArchive() throws {
        let log = try #require(self.export([])["log"])
        #expect(log["version"]?.string == "1.2")
        #expect(self.text(log["creator"]) == #"{ "name": "wiretape", "version": "0.1.0" }"#)
        #expect(self.text(log["entries"]) == "[]")
        #expect(log["pages"] == nil)
    }

    @Test func allGoldenInteractionsAreOneArchive() throws {
        let interactions = GoldenInteractions.all.flatMap(\.interactions)
        let root = try self.export(interactions)
        #expect(root["log"]?["entries"]?.elements.map { $0["request"]?["url"]?.string } == interactions.map(\.request.url))
    }

    @Test func requestAndResponseAreListed() throws {
        let entry = try self.entry(
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
            request["queryString"]?.elements.map { self.text($0) } == [
                #"{ "name": "x", "value": "1" }"#, #"{ "name": "y", "value": "한 %zz" }"#, #"{ "name": "z", "value": "" }"#,
            ])
        #expect(
            request["cookies"]?.elements.map { self.text($0) } == [
                #"{ "name": "a", "value": "1" }"#, #"{ "name": "b", "value": "\"2=3\"" }"#,
            ])
        #expect(request["headers"]?.elements.map { $0["value"]?.string } == [#"a=1; b="2=3""#, "y"])
        let response = try #require(entry["response"])
        #expect(response["redirectURL"]?.string == "/b")
        #expect(
            response["cookies"]?.elements.map { self.text($0) } == [
                #"{ "name": "id", "value": "7", "expires": "2026-11-21T04:19:28.000000Z", "path": "/x", "httpOnly": true, "secure": true }"#
            ])
        #expect(entry["serverIPAddress"]?.string == "::1")
        #expect(entry["connection"]?.string == "4")
    }

    @Test func theHeadsSizeIsThatOfTheWire() throws {
        let entry = try self.entry(self.response(Body(size: 0, content: .empty), ["A: b"]))
        #expect(entry["response"]?["headersSize"]?.int == "HTTP/1.1 200 OK\r\nA: b\r\n\r\n".utf8.count)
        #expect(entry["response"]?["bodySize"]?.int == 0)
    }

    @Test func absentPhasesAreMinusOneWhereHARAllowsIt() throws {
        var interaction = self.response(Body(size: 0, content: .empty))
        interaction.timing = Timing(connect: 1, tls: 2, wait: 3.5, total: 9)
        let entry = try self.entry(interaction)
        #expect(
            self.text(entry["timings"]) == #"{ "blocked": -1, "dns": -1, "connect": 3, "send": 0, "wait": 3.5, "receive": 0, "ssl": 2 }"#)
        #expect(entry["time"]?.double == 6.5)
    }

    @Test func failedAndCutExchangesSaySo() throws {
        var interaction = self.response(Body(size: 4, isComplete: false, content: .text(Array("half".utf8))))
        interaction.outcome = .cut(Cut(by: .origin, reason: "closed"))
        #expect(try self.entry(interaction)["response"]?["_error"]?.string == "cut by the origin: closed")
        interaction.response = nil
        interaction.outcome = .failed(Failure(kind: .dns, message: "no such host"))
        let response = try self.entry(interaction)["response"]
        #expect(response?["status"]?.int == 0)
        #expect(response?["_error"]?.string == "dns: no such host")
        #expect(response?["bodySize"]?.int == -1)
    }

    @Test func contentIsTextOrBase64WithItsSizes() throws {
        let gzipped = Body(size: 30, codings: [.gzip(nil, header: .plain)], content: .text(Array("a \"long\" text\n".utf8)))
        let text = try self.entry(self.response(gzipped, ["Content-Type: text/plain"]))["response"]?["content"]
        #expect(text?["text"]?.string == "a \"long\" text\n")
        #expect(text?["encoding"] == nil)
        #expect(text?["size"]?.int == 14)
        #expect(text?["compression"]?.int == -16)
        #expect(text?["mimeType"]?.string == "text/plain")

        let binary = try self.entry(self.response(Body(size: 4, content: .binary([0, 255, 1, 2]))))["response"]?["content"]
        #expect(binary?["text"]?.string == "AP8BAg==")
        #expect(binary?["encoding"]?.string == "base64")
    }

    @Test func formsAreParametersAndOtherBodiesText() throws {
        var interaction = self.response(Body(size: 0, content: .empty))
        interaction.request.body = Body(size: 7, content: .text(Array("a=1&b=%20".utf8)))
        interaction.request.headers = HeaderFields(["content-type: application/x-www-form-urlencoded"])
        let form = try self.entry(interaction)["request"]?["postData"]
        #expect(form?["params"]?.elements.map { $0["value"]?.string } == ["1", " "])
        #expect(form?["text"] == nil)
        interaction.request.headers = HeaderFields(["Content-Type: text/plain"])
        #expect(try self.entry(interaction)["request"]?["postData"]?["text"]?.string == "a=1&b=%20")
    }

    @Test(arguments: [1, 2, 3, 4, 5, 1000])
    func filesAreReadInPieces(_ size: Int) throws {
        let sidecar = BodyContent.file(Sidecar(path: "a.bodies/x", size: 11, sha256: ""))
        let octets = Array("\u{0}음식 \"a\"".utf8)
        let source = Pieces(octets: octets, size: size)
        let text = try self.entry(self.response(Body(size: 11, content: sidecar), ["Content-Type: text/html"]), bodies: source)
        #expect(text["response"]?["content"]?["text"]?.utf8 == octets)
        let binary = try self.entry(self.response(Body(size: 11, content: sidecar), ["Content-Type: image/png"]), bodies: source)
        #expect(binary["response"]?["content"]?["text"]?.utf8.flatMap { Base64.decode($0) } == octets)
        // Says it is text and is not.
        let cut = Pieces(octets: octets.dropLast(4) + [0xEC], size: size)
        let odd = try self.entry(self.response(Body(size: 11, content: sidecar), ["Content-Type: text/html"]), bodies: cut)
        #expect(odd["response"]?["content"]?["text"]?.utf8.flatMap { Base64.decode($0) } == cut.octets)
    }

    @Test func aFileWithoutASourceIsLeftOut() throws {
        let body = Body(size: 11, content: .file(Sidecar(path: "a.bodies/x", size: 11, sha256: "")))
        let content = try self.entry(self.response(body))["response"]?["content"]
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
        try writer.append(self.response(Body(size: 8 << 20, content: .file(Sidecar(path: "x", size: 8 << 20, sha256: "")))))
        try writer.end()
        #expect(total > (8 << 20) / 3 * 4)
        #expect(largest < 256 << 10)
    }
}
