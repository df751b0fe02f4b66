import Testing

@testable import TapeCore

@Suite struct RedactionRuleErrorTests {
    @Test func showsItsMessage() {
        #expect("\(RedactionRuleError("no"))" == "no")
    }
}
