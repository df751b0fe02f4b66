import Testing

@testable import TapeCore

@Suite struct InteractionDecoderTests {
    private func encoded(_ interaction: Interaction) -> [UInt8] {
        var writer = JSONWriter()
        InteractionEncoder.encode(interaction, into: &writer)
        return writer.bytes
    }

    private func decode(_ text: String) throws(CassetteError) -> Interaction {
        try InteractionDecoder.decode(Array(text.utf8), at: InteractionPlace(file: "pets.json", interaction: 3, line: 40))
    }

    /// Decodes a minimal interaction with one member of its response's body added.
    private func error(_ members: String, request: String = "", response: String = "") -> CassetteError? {
        do {
            _ = try self.decode(
                """
                { "id": 1, "started": "2026-11-21T04:19:28Z",
                  "request": { "method": "GET", "url": "http://a/"\(request) },
                  "response": { "status": 200\(response),
                    "body": { "size": 1, \(members) } } }
                """)
            return nil
        } catch { return error }
    }

    @Test func whatWasEncodedIsDecodedTheSame() throws {
        var random = RandomInteraction(seed: 1)
        for round in 0..<1_500 {
            let interaction = random.next()
            let text = self.encoded(interaction)
            let decoded = try InteractionDecoder.decode(text)
            guard decoded == interaction else {
                Issue.record("round \(round) changed: \(String(decoding: text, as: UTF8.self))")
                return
            }
            #expect(self.encoded(decoded) == text)
        }
    }

    @Test func noDamageTraps() {
        var random = RandomInteraction(seed: 2)
        var generator = SeededGenerator(seed: 3)
        var decodedCount = 0
        for _ in 0..<400 {
            let text = self.encoded(random.next())
            for _ in 0..<50 {
                var damaged = text
                for _ in 0..<Int.random(in: 1...3, using: &generator) where !damaged.isEmpty {
                    let spot = Int.random(in: 0..<damaged.count, using: &generator)
                    switch Int.random(in: 0..<4, using: &generator) {
                    case 0: damaged[spot] = UInt8.random(in: 0...255, using: &generator)
                    case 1: damaged[spot] = Array("{}[]\",:0123456789-.eE\\utfn ".utf8).randomElement(using: &generator) ?? 0
                    case 2: damaged.removeSubrange(spot..<min(damaged.count, spot + Int.random(in: 1...20, using: &generator)))
                    default: damaged.insert(contentsOf: damaged[spot..<min(damaged.count, spot + 12)], at: spot)
                    }
                }
                if let decoded = try? InteractionDecoder.decode(damaged) {
                    decodedCount += 1
                    _ = self.encoded(decoded)
                }
                _ = damaged.withUnsafeBytes { InteractionSummaryReader.read($0) }
            }
        }
        // Changes within strings leave a cassette that reads well.
        #expect(decodedCount > 1_000)
    }

    @Test func membersComeInAnyOrderAndLayout() throws {
        let interaction = try self.decode(
            #"{"response":{"headers":["A: b"],"status":204},"x":[1, 2],"request":{"url":"http://a/","method":"GET"},"started":"2026-11-21T04:19:28.5Z","id":7}"#)
        #expect(interaction.id == 7)
        #expect(interaction.started.formatted == "2026-11-21T04:19:28.500000Z")
        #expect(interaction.response?.headers.lines == ["A: b"])
        #expect(interaction.unknown == [UnknownMember(name: "x", json: Array("[1, 2]".utf8))])
        #expect(interaction.request.body == nil)
        #expect(interaction.request.version == .http11)
    }

    @Test func anErrorNamesFileLineAndMember() {
        #expect(throws: CassetteError(
            .damaged,
            "'pets.json' line 42: interaction 3: response.status: expected a number; correct that line or restore the file from a copy")
        ) {
            try self.decode(
                """
                { "id": 1, "started": "2026-11-21T04:19:28Z",
                  "request": { "method": "GET", "url": "http://a/" },
                  "response": { "status": "200" } }
                """)
        }
        #expect(throws: CassetteError(
            .damaged, "'pets.json' line 41: interaction 3: expected ',' or '}'; correct that line or restore the file from a copy")
        ) { try self.decode("{ \"id\": 1\n\"started\": 2 }") }
    }

    @Test(arguments: [
        #""file": "/etc/passwd""#, #""file": "../../.ssh/id_rsa""#, #""file": "a/../../b""#, #""file": "a\u0000b""#, #""file": "a\\b""#,
        #""file": "a//b""#, #""file": "a/""#, #""file": "./a""#, #""file": """#, #""original": "../a""#, #""original": { "file": "/a", "size": 1 }"#,
        #""raw": { "file": "../a", "offset": 0, "size": 1, "crc32": "00000000" }"#,
    ])
    func aPathOutOfTheFolderIsRefused(_ members: String) {
        #expect(self.error(members)?.code == .unsafePath)
    }

    @Test(arguments: [
        #""text": 1"#, #""text": [1]"#, #""text": "\ud800""#, #""base64": "AA""#, #""base64": "A===""#, #""base64": "AB==""#, #""base64": "AA=A""#,
        #""text": "a", "base64": "AAAA""#, #""json": [], "style": { "indent": 9 }"#, #""json": [], "style": { "indent": -1 }"#,
        #""json": [], "style": "wide""#, #""json": [], "style": { "tail": "x" }"#, #""complete": 1"#, #""sha256": "ab""#,
        #""codings": [{ "gzip": { "level": 10 } }]"#, #""codings": [{ "gzip": { "memory": 9 } }]"#, #""codings": [{}]"#, #""codings": {}"#,
        #""codings": [{ "deflate": { "level": 6, "window": 99 } }]"#, #""codings": [{ "gzip": { "header": "1f8b" } }]"#,
        #""raw": { "file": "a", "offset": 9223372036854775807, "size": 1, "crc32": "00000000" }"#,
        #""raw": { "file": "a", "offset": 0, "size": 1, "crc32": "0" }"#, #""arrival": {}"#, #""arrival": { "reads": [[1]] }"#,
        #""arrival": { "reads": [[1, -1]] }"#, #""arrival": { "reads": [], "chunks": [] }"#, #""arrival": { "chunks": [[0, 1, "1\r\nX: y"]] }"#,
        #""arrival": { "reads": [[0, 9223372036854775807], [0, 1]] }"#, #""arrival": { "reads": [[1e999, 1]] }"#, #""size": 2"#,
        #""note": "a", "note": "b""#,
    ])
    func aBodyThatBreaksTheFormatIsDamaged(_ members: String) {
        #expect(self.error(members)?.code == .damaged)
    }

    @Test(arguments: [
        #""codings": [{ "br": {} }]"#, #""codings": [{ "gzip": { "level": 6, "flush": [1] } }]"#, #""multipart": []"#,
        #""json": {}, "style": { "indent": 2, "tabs": true }"#,
    ])
    func whatOnlyANewerVersionCanRestoreIsRefused(_ members: String) {
        #expect(self.error(members)?.code == .unsupportedVersion)
    }

    @Test(arguments: [
        #"A: b\r\nX: y"#, #"A: b\nX"#, #"A: \u0000"#, "", " folded", #"\tfolded"#,
    ])
    func aFieldLineThatIsNotOneLineIsDamaged(_ line: String) {
        #expect(self.error(#""text": "a""#, response: ", \"headers\": [\"\(line)\"]")?.code == .damaged)
        #expect(self.error(#""text": "a""#, request: ", \"trailers\": [{ \"latin1\": \"\(line)\" }]")?.code == .damaged)
    }

    @Test func aStartLineHasNoControlCharacters() {
        #expect(self.error(#""text": "a""#, request: #", "target": "/\r\nX: y""#)?.code == .damaged)
        #expect(self.error(#""text": "a""#, response: #", "reason": "OK\r\n\r\n""#)?.code == .damaged)
        #expect(self.error(#""text": "a""#, response: #", "version": "HTTP/1.1\r\n""#)?.code == .damaged)
        #expect(self.error(#""text": "a""#, response: #", "reason": { "latin1": "한" }"#)?.code == .damaged)
    }

    @Test func textMayBeOneStringOrSeveral() throws {
        func text(_ json: String) throws -> BodyContent? {
            try self.decode(
                #"{"id":1,"started":"2026-11-21T04:19:28Z","request":{"method":"PUT","url":"http://a/","body":{"text":\#(json)}}}"#
            ).request.body?.content
        }
        #expect(try text(#""a\nb""#) == .text(Array("a\nb".utf8)))
        #expect(try text(#"["a\n", "b"]"#) == .text(Array("a\nb".utf8)))
        #expect(try text("[]") == .text([]))
    }

    @Test func aBodyWrittenByHandTakesItsSizeFromItsContent() throws {
        let interaction = try self.decode(
            #"{"id":1,"started":"2026-11-21T04:19:28Z","request":{"method":"PUT","url":"http://a/","body":{"json":{"a": 1}}}}"#)
        #expect(interaction.request.body == Body(size: 7, content: .json(Array(#"{"a":1}"#.utf8), style: .compact)))
    }
}
