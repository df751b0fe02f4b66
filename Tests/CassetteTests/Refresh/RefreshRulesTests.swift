import Testing
@testable import CassettePlayback

@Suite struct RefreshRulesTests {
    @Test func pointersAreRead() throws {
        #expect(try RefreshRules([]) == .standard)
        #expect(try RefreshRules(["json:/a", "json:/items/*/at"]).pointers.map(\.description) == ["/a", "/items/*/at"])
    }

    @Test(arguments: ["", "header:date", "/a", "json:a", "body"]) func otherPlacesAreNone(rule: String) {
        let error = #expect(throws: MatchRuleError.self) { try RefreshRules([rule]) }
        #expect(error?.message.contains("json:/POINTER") == true)
    }

    @Test func tooManyAreSaid() {
        #expect(throws: MatchRuleError.self) { try RefreshRules(Array(repeating: "json:/a", count: 65)) }
    }
}
