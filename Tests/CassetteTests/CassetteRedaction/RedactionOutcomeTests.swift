@testable import CassetteRedaction
import Testing

@Suite struct RedactionOutcomeTests {
    @Test func addsUp() {
        var outcome = RedactionOutcome()
        #expect(!outcome.isChanged && outcome.note == nil)
        var other = RedactionOutcome()
        other.count = 2
        other.notes = ["a", "b"]
        outcome.add(other)
        outcome.add(other)
        #expect(outcome.count == 4 && outcome.note == "a; b" && outcome.isChanged)
    }
}
