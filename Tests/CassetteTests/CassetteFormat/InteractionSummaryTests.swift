@testable import CassetteFormat
@testable import CassetteModel
@testable import TapeBytes
import TapeTestSupport
import Testing

@Suite struct InteractionSummaryReaderTests {
    private func read(_ text: [UInt8]) -> InteractionSummary? { text.withUnsafeBytes { InteractionSummaryReader.read($0) } }

    @Test func encodedInteractionsCanBeSkimmed() {
        var random = RandomInteraction(seed: 12)
        var statuses = 0
        for _ in 0..<200 {
            let interaction = random.next()
            var writer = JSONWriter()
            InteractionEncoder.encode(interaction, into: &writer)
            var summary = self.read(writer.bytes)
            // Members between the request and the response hide the status.
            #expect(summary?.status == nil || summary?.status == interaction.response?.status)
            if summary?.status != nil { statuses += 1 }
            summary?.status = nil
            // Some fields are known only after they are decoded.
            #expect(summary?.mayHaveDecidingFields == true || !DecidingFields.areIn(interaction.request.headers))
            #expect(summary?.mayLogIn == true || !ConnectionAuthentication.isUsed(by: interaction.request.headers))
            summary?.mayHaveDecidingFields = false
            summary?.mayLogIn = false
            #expect(
                summary
                    == InteractionSummary(
                        id: interaction.id, started: interaction.started, method: interaction.request.method, url: interaction.request.url,
                        mayHaveRequestBody: interaction.request.body != nil))
        }
        #expect(statuses > 0)
    }

    /// The recorder's layout, with lines missing or out of place.
    @Test func linesAreSkimmedAsTokensAre() {
        var random = RandomInteraction(seed: 13)
        var generator = SeededGenerator(seed: 14)
        var quick = 0
        for round in 0..<400 {
            var writer = JSONWriter()
            writer.removeAll(baseDepth: InteractionEncoder.depth)
            InteractionEncoder.encode(random.next(), into: &writer)
            var lines = writer.bytes.drop { $0 == 0x20 }.split(separator: 10, omittingEmptySubsequences: false).map(Array.init)
            let line = Int.random(in: 1..<lines.count, using: &generator)
            switch round % 4 {
            case 1: lines.remove(at: line)
            case 2: lines.swapAt(line, Int.random(in: 1..<lines.count, using: &generator))
            case 3: lines.insert(lines[line], at: Int.random(in: 1...lines.count, using: &generator))
            default: break
            }
            let text = Array(lines.joined(separator: [10]))
            text.withUnsafeBytes { bytes in
                let tokens = InteractionSummaryReader.skimTokens(bytes)
                let skimmed = InteractionSummaryReader.skim(bytes)
                // Skimming does not check that the lines are JSON.
                guard let tokens, (try? JSONDocument(text)) != nil else { return }
                #expect(skimmed?.id == tokens.id && skimmed?.started == tokens.started && skimmed?.url == tokens.url, "round \(round)")
                #expect(skimmed?.method == tokens.method && skimmed?.mayHaveRequestBody == tokens.mayHaveRequestBody, "round \(round)")
                if InteractionSummaryReader.skimLines(bytes) != nil { quick += 1 }
            }
        }
        #expect(quick > 60)
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
    func textWithoutARequiredMemberHasNoSummary(_ text: String) {
        #expect(self.read(Array(text.utf8)) == nil)
    }
}
