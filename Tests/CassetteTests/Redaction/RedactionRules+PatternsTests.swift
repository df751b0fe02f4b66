import Testing

@testable import CassetteRedaction

@Suite struct RedactionRulesPatternsTests {
    @Test func findsInItemsByName() throws {
        let rules = try RedactionRules(rules: ["query:a=[0-9]+", "form:b=x", "path=/[a-z]+"])
        Array("a=12&b=x".utf8).withUnsafeBytes { text in
            #expect(rules.findings(inQueryOf: text, range: 0..<8).map(\.range) == [2..<4])
            #expect(rules.findings(inForm: text).map(\.range) == [7..<8])
        }
        Array("/abc".utf8).withUnsafeBytes { #expect(rules.findings(at: .path, in: $0, from: 10).map(\.range) == [10..<14]) }
    }
}
