import TapeTestSupport
import Testing

@testable import CassetteFormat
@testable import CassetteModel
@testable import TapeBytes

@Suite struct InteractionDecoderTests {
    private func encoded(_ interaction: Interaction) -> [UInt8] {
        var writer = JSONWriter()
        InteractionEncoder.encode(interaction, into: &writer)
        return writer.bytes
    }

    @Test func whatWasEncodedIsDecodedTheSame() throws {
        var random = RandomInteraction(seed: 1)
        for round in 0..<rounds(1_500) {
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
                if let decoded = try? InteractionDecoder.decode(damaged) {
                    decodedCount += 1
                    _ = self.encoded(decoded)
                }
                _ = damaged.withUnsafeBytes { InteractionSummaryReader.read($0) }
            }
        }
        // Changes within strings leave a cassette that reads well.
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
