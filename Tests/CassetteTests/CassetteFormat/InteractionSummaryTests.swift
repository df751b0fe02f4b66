@testable import CassetteFormat
@testable import CassetteModel
@testable import TapeBytes
import Testing

@Suite struct InteractionSummaryReaderTests {
    private func read(_ text: [UInt8]) -> InteractionSummary? { text.withUnsafeBytes { InteractionSummaryReader.read($0) } }

    @Test func whatTheEncoderWritesIsSkimmed() {
        var random = RandomInteraction(seed: 12)
        for _ in 0..<200 {
            let interaction = random.next()
            var writer = JSONWriter()
            InteractionEncoder.encode(interaction, into: &writer)
            #expect(
                self.read(writer.bytes)
                    == InteractionSummary(
                        id: interaction.id, started: interaction.started, method: interaction.request.method, url: interaction.request.url,
                        mayHaveRequestBody: interaction.request.body != nil))
        }
    }

    @Test func membersOfTheSameNameElsewhereDoNotCount() {
        let text =
            #"{"x":{"id":9,"url":"no"},"request":{"body":{"url":"no","method":"no"},"url":"\u0061","method":"GET"},"url":"no","started":"1970-01-01T00:00:00Z","id":1}"#
        #expect(
            self.read(Array(text.utf8))
                == InteractionSummary(id: 1, started: Timestamp(microseconds: 0), method: "GET", url: "a", mayHaveRequestBody: true))
    }

    @Test(arguments: [
        "", "[]", "{}", "{\"id\":1", #"{"id":"1","started":"x","request":{"method":"a","url":"b"}}"#,
        #"{"id":1e5,"started":"1970-01-01T00:00:00Z","request":{"method":"a","url":"b"}}"#,
    ])
    func whatLacksAMemberHasNoSummary(_ text: String) {
        #expect(self.read(Array(text.utf8)) == nil)
    }
}
