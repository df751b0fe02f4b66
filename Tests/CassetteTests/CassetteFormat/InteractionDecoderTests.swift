@testable import CassetteFormat
@testable import CassetteModel
@testable import TapeBytes
import TapeTestSupport
import Testing

@Suite struct InteractionDecoderTests {
    private func encoded(_ interaction: Interaction) -> [UInt8] {
        var writer = JSONWriter()
        InteractionEncoder.encode(interaction, into: &writer)
        return writer.bytes
    }

    @Test func encodedInteractionsDecodeToTheSame() throws {
        var random = RandomInteraction(seed: 1)
        for round in 0..<rounds(1_500) {
            let interaction = random.next()
            let text = self.encoded(interaction)
            let decoded = try InteractionDecoder.decode(text, at: .textAlone)
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
        for _ in 0..<rounds(400) {
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
                if let decoded = try? InteractionDecoder.decode(damaged, at: .textAlone) {
                    decodedCount += 1
                    _ = self.encoded(decoded)
                }
                _ = damaged.withUnsafeBytes { InteractionSummaryReader.read($0) }
            }
        }
        // Changes within strings leave a readable cassette.
        #expect(decodedCount > rounds(1_000))
    }

    @Test func membersComeInAnyOrderAndLayout() throws {
        let interaction = try decodeInteraction(
            #"{"response":{"headers":["A: b"],"status":204},"x":[1, 2],"request":{"url":"http://a/","method":"GET"},"started":"2026-11-21T04:19:28.5Z","id":7}"#
        )
        #expect(interaction.id == 7)
        #expect(interaction.started.formatted == "2026-11-21T04:19:28.500000Z")
        #expect(interaction.response?.headers.lines == ["A: b"])
        #expect(interaction.unknown == [UnknownMember(name: "x", json: Array("[1, 2]".utf8))])
        #expect(interaction.request.body == nil)
        #expect(interaction.request.version == .http11)
    }

    @Test func anErrorNamesFileLineAndMember() {
        #expect(
            throws: CassetteError(
                .damaged,
                "'pets.json' line 42: interaction 3: response.status: expected a number; correct that line or restore the file from a copy")
        ) {
            try decodeInteraction(
                """
                { "id": 1, "started": "2026-11-21T04:19:28Z",
                  "request": { "method": "GET", "url": "http://a/" },
                  "response": { "status": "200" } }
                """)
        }
        #expect(
            throws: CassetteError(
                .damaged, "'pets.json' line 41: interaction 3: expected ',' or '}'; correct that line or restore the file from a copy")
        ) { try decodeInteraction("{ \"id\": 1\n\"started\": 2 }") }
    }

    @Test(arguments: [
        #"A: b\r\nX: y"#, #"A: b\nX"#, #"A: \u0000"#, "", " folded", #"\tfolded"#,
    ])
    func aFieldLineThatIsNotOneLineIsDamaged(_ line: String) {
        #expect(decodingError(#""text": "a""#, response: ", \"headers\": [\"\(line)\"]")?.code == .damaged)
        #expect(decodingError(#""text": "a""#, request: ", \"trailers\": [{ \"latin1\": \"\(line)\" }]")?.code == .damaged)
    }

    @Test func aStartLineHasNoControlCharacters() {
        #expect(decodingError(#""text": "a""#, request: #", "target": "/\r\nX: y""#)?.code == .damaged)
        #expect(decodingError(#""text": "a""#, response: #", "reason": "OK\r\n\r\n""#)?.code == .damaged)
        #expect(decodingError(#""text": "a""#, response: #", "version": "HTTP/1.1\r\n""#)?.code == .damaged)
        #expect(decodingError(#""text": "a""#, response: #", "reason": { "latin1": "한" }"#)?.code == .damaged)
    }
}

@Suite struct ConnectionDecoderTests {
    private func decode(_ connection: String) throws(CassetteError) -> ConnectionInfo? {
        try decodeInteraction(
            """
            { "id": 1, "started": "2026-11-21T04:19:28Z", "request": { "method": "GET", "url": "http://a/" },
              "connection": \(connection) }
            """
        ).connection
    }

    private func error(_ tls: String) -> CassetteError? {
        do throws(CassetteError) {
            _ = try self.decode("{ \"id\": 1, \"remote\": \"a\", \"tls\": \(tls) }")
            return nil
        } catch { return error }
    }

    private func certificate(sha256: String = String(repeating: "0", count: 64), notAfter: String = #""2027-11-20T00:00:00Z""#) -> String {
        #"{ "sha256": "\#(sha256)", "subject": "CN=a", "issuer": "CN=b", "notBefore": "2026-11-20T00:00:00Z", "notAfter": \#(notAfter) }"#
    }

    @Test func unknownMembersAreKept() throws {
        let connection = try #require(
            try self.decode(#"{ "id": 1, "remote": "a", "tls": { "cipher": "X", "version": "TLSv9", "ech": true }, "quic": 2 }"#))
        #expect(connection.unknown.map(\.name) == ["quic"])
        #expect(
            connection.tls
                == TLSDetails(
                    version: "TLSv9", cipher: "X", unknown: [UnknownMember(name: "ech", json: Array("true".utf8))]))
    }

    @Test func aWrongMemberIsNamed() {
        #expect(
            self.error(#"{ "version": "TLSv1.3" }"#)?.message
                == "'pets.json' line 41: interaction 3: connection.tls.cipher: is missing; correct that line or restore the file from a copy"
        )
        let short = self.certificate(sha256: "00")
        #expect(
            self.error("{ \"version\": \"\", \"cipher\": \"\", \"chain\": [\(short)] }")?.message.contains(
                "connection.tls.chain.sha256: expected 64 lower-case hex digits") == true)
    }

    @Test(arguments: [
        "1", #"{ "version": 1.3, "cipher": "X" }"#, #"{ "version": "", "cipher": "", "alpn": null }"#,
        #"{ "version": "", "cipher": "", "resumed": 1 }"#, #"{ "version": "", "cipher": "", "chain": {} }"#,
        #"{ "version": "", "cipher": "", "chain": [1] }"#, #"{ "version": "", "cipher": "", "chain": [{ "subject": "" }] }"#,
        #"{ "version": "", "version": "", "cipher": "" }"#,
    ])
    func aWrongTypeIsDamage(tls: String) {
        #expect(self.error(tls)?.code == .damaged)
    }

    @Test(arguments: [#""2027""#, "1", #""2027-11-31T00:00:00Z""#])
    func anInvalidDateIsDamage(text: String) {
        let certificate = self.certificate(notAfter: text)
        #expect(self.error("{ \"version\": \"\", \"cipher\": \"\", \"chain\": [\(certificate)] }")?.code == .damaged)
    }

    @Test func aChainHasALimit() {
        func chain(_ count: Int) -> String {
            let certificates = Array(repeating: self.certificate(), count: count).joined(separator: ", ")
            return "{ \"version\": \"\", \"cipher\": \"\", \"chain\": [\(certificates)] }"
        }
        #expect(self.error(chain(16)) == nil)
        #expect(self.error(chain(17))?.code == .tooLarge)
    }
}
