import Testing

@testable import CassetteRedaction

@Suite struct RedactionRulesTests {
    @Test func rulesAdd() throws {
        let one = try RedactionRules(rules: ["query:a"], keep: ["jwt"])
        let two = try RedactionRules(rules: ["query:a", "query:b"], secrets: [SecretValue(name: "X", octets: [1, 2, 3, 4, 5, 6])])
        let sum = one.adding(two)
        #expect(sum.rules.map(\.text) == ["query:a", "query:b"])
        #expect(sum.keep.map(\.text) == ["jwt"])
        #expect(sum.secrets.map(\.name) == ["X"])
        #expect(RedactionRules.standard.isStandard && !sum.isStandard)
    }

    @Test func tooManyAreRefused() {
        #expect(throws: RedactionRuleError.self) { try RedactionRules(rules: Array(repeating: "query:a", count: 1001)) }
    }
}
