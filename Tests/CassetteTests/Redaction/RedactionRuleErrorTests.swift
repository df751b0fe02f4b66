import Testing

@testable import CassetteRedaction

@Suite struct RedactionRuleErrorTests {
    @Test func showsItsMessage() {
        #expect("\(RedactionRuleError("no"))" == "no")
    }
}
