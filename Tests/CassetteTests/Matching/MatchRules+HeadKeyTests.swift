import TapeTestSupport
import Testing

@testable import CassettePlayback

struct MatchRulesHeadKeyTests {
    @Test func isTheMethodAndTheNormalisedURLWithItsQuerySorted() {
        #expect(MatchFixture.headKey("HTTP://A.test:80/%7Ex?b=2&a=1") == "GET http://a.test/~x?a=1&b=2")
        #expect(MatchFixture.headKey("http://a.test", method: "POST") == "POST http://a.test/")
        #expect(MatchFixture.headKey("http://a.test/?", method: "get") == "get http://a.test/?")
        #expect(MatchFixture.headKey("") == "GET ")
    }

    @Test func placeholdersAreMarks() {
        #expect(MatchFixture.headKey("http://a.test/?b={{api-key:12}}&a=%7b%7Bjwt%3A1%7D%7D") == "GET http://a.test/?a={{*}}&b={{*}}")
        #expect(MatchFixture.headKey("http://{{password:1}}@a.test/u/{{name:2}}/x") == "GET http://{{*}}@a.test/u/{{*}}/x")
    }

    /// The standard rules take a way of their own, which must not differ.
    @Test func theShortWayAndTheLongOneAgree() throws {
        let long = try MatchRules(ignore: ["query:never"])
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<300 {
            let items = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                ["a", "b", "aa", "", "{{k:1}}", "%7E"][Int.random(in: 0..<6, using: &generator)]
                    + ["", "=", "=1", "=2"][Int.random(in: 0..<4, using: &generator)]
            }
            let url = "http://u@a.test:81/x" + (items.isEmpty ? "" : "?" + items.joined(separator: "&"))
            #expect(MatchFixture.headKey(url) == MatchFixture.headKey(long, url))
            #expect(
                MatchFixture.headKey(url)
                    == MatchFixture.headKey(
                        "http://u@a.test:81/x" + (items.isEmpty ? "" : "?" + items.shuffled(using: &generator).joined(separator: "&"))))
        }
    }
}
