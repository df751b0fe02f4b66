@testable import CassetteFormat
@testable import CassetteModel
@testable import TapeBytes
import Testing

@Suite struct BodyEncoderTests {
    private func encoded(_ interaction: Interaction) -> [UInt8] {
        var writer = JSONWriter()
        InteractionEncoder.encode(interaction, into: &writer)
        return writer.bytes
    }

    private func text(_ body: Body) -> String {
        var writer = JSONWriter()
        BodyEncoder.encode(body, into: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func anEmptyBodyIsItsSize() {
        #expect(self.text(Body(size: 0, content: .empty)) == #"{ "size": 0 }"#)
        #expect(self.text(Body(size: 0, isComplete: false, content: .empty)) == "{\n  \"size\": 0,\n  \"complete\": false\n}")
    }

    @Test(arguments: [
        ("a", "\"a\""), ("a\n", "\"a\\n\""), ("a\nb", "[\n    \"a\\n\",\n    \"b\"\n  ]"), ("\n\n", "[\n    \"\\n\",\n    \"\\n\"\n  ]"),
    ])
    func textBreaksAfterLineFeeds(_ text: String, _ json: String) {
        #expect(self.text(Body(size: 1, content: .text(Array(text.utf8)))) == "{\n  \"size\": 1,\n  \"text\": \(json)\n}")
    }

    @Test func bytesThatDoNotMatchTheirTypeAreWrittenInBase64() throws {
        func content(_ content: BodyContent) throws -> BodyContent? {
            var interaction = GoldenInteractions.simple
            interaction.request.body = Body(size: 3, content: content)
            return try InteractionDecoder.decode(self.encoded(interaction), at: .textAlone).request.body?.content
        }
        #expect(try content(.text([0x61, 0xFF, 0x62])) == .binary([0x61, 0xFF, 0x62]))
        #expect(try content(.json([0xFF], style: .spaced)) == .binary([0xFF]))
        #expect(try content(.json(Array("[1,".utf8), style: .spaced)) == .text(Array("[1,".utf8)))
    }
}
