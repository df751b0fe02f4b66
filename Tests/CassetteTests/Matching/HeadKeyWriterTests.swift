import Testing

@testable import CassettePlayback

struct HeadKeyWriterTests {
    /// Rules, a URL and its key.
    @Test func whatIsNotComparedIsNotThere() throws {
        let url = "https://u:p@api.test:8443/v1/x?b=2&a=1"
        for (match, key) in [
            (["method"], "GET *://*/*"), (["scheme"], "* https://*/*"), (["host"], "* *://u:p@api.test/*"), (["port"], "* *://*:8443/*"),
            (["path"], "* *://*/v1/x"), (["query"], "* *://*/*?a=1&b=2"), (["query-order"], "* *://*/*?b=2&a=1"),
            (["method", "url"], "GET https://u:p@api.test:8443/v1/x?a=1&b=2"),
        ] {
            #expect(try MatchFixture.headKey(MatchRules(match: match), url) == key)
        }
    }

    @Test func ignoredItemsAreLeftOutByTheirDecodedNames() throws {
        let rules = try MatchRules(ignore: ["query:ts", "query:a b"])
        #expect(MatchFixture.headKey(rules, "http://a.test/?ts=1&x=2&a+b=3&%74s=4&a%20b") == "GET http://a.test/?x=2")
        #expect(MatchFixture.headKey(rules, "http://a.test/?ts=1") == "GET http://a.test/")
        #expect(MatchFixture.headKey(rules, "http://a.test/?tsx=1") == "GET http://a.test/?tsx=1")
    }

    @Test func patternsMakeMatchingValuesAlike() throws {
        let rules = try MatchRules(patterns: ["query:ts=[0-9]+", "path=/users/[0-9]+", "host=(a|b)\\.test"])
        func key(_ url: String) -> String { MatchFixture.headKey(rules, url) }
        #expect(key("http://a.test/users/1?ts=5") == key("http://b.test/users/22?ts=66"))
        #expect(key("http://a.test/users/1?ts=5") != key("http://a.test/users/1?ts=5x"))
        #expect(key("http://a.test/users/1?ts=5") != key("http://a.test/users/x?ts=5"))
        #expect(key("http://a.test/users/1?ts=5") != key("http://c.test/users/1?ts=5"))
        #expect(key("http://a.test/users/1?ts=5") != key("http://a.test/users/1?tt=5"))
        #expect(key("http://a.test/users/1") != key("http://a.test/users/1?ts=5"))
    }

    @Test func fieldsFollowOnLinesOfTheirOwn() throws {
        let rules = try MatchRules(match: ["method", "header:b", "header:Accept"])
        let key = MatchFixture.headKey(rules, "http://a.test/", ["accept: x ", "B: 1", "c: 2", "b: 3"])
        #expect(key == "GET *://*/*\naccept: x\nb: 1, 3")
        #expect(MatchFixture.headKey(rules, "http://a.test/", ["B:"]) == "GET *://*/*\nb: ")
        #expect(MatchFixture.headKey(rules, "http://a.test/", []) == "GET *://*/*")
    }

    @Test func aBoundaryInAFieldDoesNotCount() throws {
        let rules = try MatchRules(match: ["header:content-type"])
        func key(_ boundary: String) -> String {
            MatchFixture.headKey(rules, "http://a.test/", ["Content-Type: multipart/form-data; boundary=\(boundary)"])
        }
        #expect(key("0123456789abcdef") == key("fedcba9876543210"))
        let form = MatchFixture.headKey(rules, "http://a.test/", ["Content-Type: multipart/mixed; boundary=0123456789abcdef"])
        #expect(form != key("0123456789abcdef"))
    }

    @Test func valuesOfFieldsCanMatchAPattern() throws {
        let rules = try MatchRules(match: ["header:x-id", "header:authorization"], patterns: ["header:X-Id=[a-f0-9]+"])
        func key(_ id: String, _ authorization: String) -> String {
            MatchFixture.headKey(rules, "http://a.test/", ["X-ID: \(id)", "Authorization: \(authorization)"])
        }
        #expect(key("12ab", "Bearer {{authorization:1}}") == key("ff", "Bearer {{authorization:7}}"))
        #expect(key("12ab", "Bearer x") != key("xyz", "Bearer x"))
        #expect(key("12ab", "Bearer x") != key("12ab", "Basic x"))
    }

    @Test func graphQLLeavesItsItemsToTheBody() throws {
        let rules = try MatchRules(match: ["url", "graphql"])
        #expect(MatchFixture.headKey(rules, "http://a.test/g?query=x&variables=y&v=1") == "* http://a.test/g?v=1")
    }
}
