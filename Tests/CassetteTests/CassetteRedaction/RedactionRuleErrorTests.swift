@testable import CassetteRedaction
import Testing

@Suite struct RedactionRuleErrorTests {
    @Test func showsItsMessage() {
        #expect("\(RedactionRuleError("no"))" == "no")
    }
}
