@testable import CassettePlayback
import Testing

struct FormFacetsTests {
    private func facets(_ text: String, _ rules: MatchRules = .standard) -> BodyFacets { MatchFixture.live(text, MatchFixture.form, rules) }

    @Test(arguments: [
        ("a=1&b=2", "b=2&a=1"), ("a+b=%C3%A9", "a%20b=%c3%a9"), ("a", "a="), ("a=1&&b=2&", "a=1&b=2"), ("a=%7E", "a=~"),
        ("a=100%", "a=100%25"),
        ("t={{api-key:1}}", "t={{api-key:2}}"),
    ]) func equal(left: String, right: String) {
        #expect(self.facets(left) == self.facets(right))
        #expect(self.facets(left).kind == .form)
    }

    @Test(arguments: [
        ("a=1", "a=2", ["form field \"a\" is \"1\", recorded is \"2\""]),
        ("a=1&a=1", "a=1", ["form field \"a\", which is \"1\", was not recorded"]),
        ("b=1", "a=1", ["form field \"b\", which is \"1\", was not recorded", "form field \"a\", recorded as \"1\", is missing"]),
        ("a=1%26b=2", "a=1&b=2", nil), ("a==1", "a=1", nil),
    ]) func unequal(left: String, right: String, why: [String]?) {
        #expect(self.facets(left) != self.facets(right))
        if let why { #expect(MatchFixture.differences(left, right, MatchFixture.form) == why) }
    }

    @Test func fieldsCanBeIgnoredOrMatched() throws {
        let rules = try MatchRules(ignore: ["form:a b"], patterns: ["form:ts=[0-9]+"])
        #expect(self.facets("a+b=1&ts=1&x=1", rules) == self.facets("ts=22&x=1", rules))
        #expect(self.facets("ts=1", rules) != self.facets("ts=x", rules))
        #expect(self.facets("x=1", rules) != self.facets("x=2", rules))
    }

    @Test func escapesAreTakenOutOnce() {
        func decoded(_ text: String) -> String { String(decoding: FormFacets.decoded(Array(text.utf8)), as: UTF8.self) }
        #expect(decoded("a+b%2B%2541%4") == "a b+%41%4")
        #expect(decoded("%zz%") == "%zz%")
    }
}
