@testable import CassettePlayback
import TapeTestSupport
import Testing

struct MatchRulesTests {
    @Test func standardIsMethodURLAndBody() throws {
        #expect(MatchRules.standard.rules == [.method, .scheme, .host, .port, .path, .query(ordered: false), .body(.byKind)])
        #expect(try MatchRules(match: MatchRules.standardNames).rules == MatchRules.standard.rules)
        #expect(MatchRules.standard.isStandardHead)
        #expect(MatchRules.standard.looksAtBody)
        #expect(!MatchRules.standard.looksAtHeaders)
        #expect(!MatchRules.standard.movesQueryToBody)
    }

    @Test func everyNameIsARule() throws {
        let table: [(String, MatchRule)] = [
            ("method", .method), ("scheme", .scheme), ("host", .host), ("port", .port), ("path", .path), ("query", .query(ordered: false)),
            ("query-order", .query(ordered: true)), ("header:Accept", .header("accept")), ("body", .body(.byKind)),
            ("body:bytes", .body(.bytes)), ("body:json", .body(.json)), ("body:form", .body(.form)), ("body:multipart", .body(.multipart)),
            ("body:text", .body(.text)), ("graphql", .graphQL),
        ]
        for (name, rule) in table { #expect(try MatchRules(match: [name]).rules == [rule], "\(name)") }
        #expect(try MatchRules(match: ["url", "query-order"]).rules.contains(.query(ordered: true)))
        #expect(try !MatchRules(match: ["url", "query-order"]).rules.contains(.query(ordered: false)))
        #expect(try MatchRules(match: ["body", "part-order"]).body.ordersParts)
    }

    @Test func anIgnoredPlaceTakesItsRuleAway() throws {
        let rules = try MatchRules(ignore: ["host", "query", "body", "query:ts"])
        #expect(rules.rules == [.method, .scheme, .port, .path])
        #expect(!rules.looksAtBody)
        #expect(try MatchRules(match: ["method", "header:a"], ignore: ["header:A"]).rules == [.method])
        #expect(try MatchRules(match: ["graphql"], ignore: ["body"]).rules == [])
    }

    @Test func addingReplacesMatchAndKeepsTheRest() throws {
        var rules = try MatchRules(match: ["method"], ignore: ["query:a"])
        rules.custom = [CustomMatch("x") { _, _ in nil }]
        let both = try rules.adding(MatchRuleTexts(match: ["url"], ignore: ["query:b"]))
        #expect(both.rules.contains(.path) && !both.rules.contains(.method))
        #expect(both.ignored == [.queryItem("a"), .queryItem("b")])
        #expect(both.custom.map(\.name) == ["x"])
        #expect(try rules.adding(MatchRuleTexts()).rules == [.method])
    }

    @Test(arguments: [
        (["nothing"], "\"nothing\" is not a match rule; write method"), ([], "no rule is named"),
        (["body:yaml"], "\"body:yaml\" is not a match rule"),
        (["header:"], "cannot be the name of a header field"), (["method", "part-order"], "part-order\" has no effect"),
        (["body:json", "body:text"], "at once"),
    ])
    func saysWhatToWrite(match: [String], message: String) {
        let error = #expect(throws: MatchRuleError.self) { try MatchRules(match: match) }
        #expect(error?.message.contains(message) == true)
    }

    @Test func tooManyRulesAreRefused() throws {
        #expect(throws: MatchRuleError.self) { try MatchRules(ignore: (0..<257).map { "query:\($0)" }) }
        #expect(throws: MatchRuleError.self) { try MatchRules(ignore: (0..<65).map { "json:/\($0)" }) }
        let many = try MatchRules(ignore: (0..<64).map { "json:/\($0)" })
        let facets = MatchFixture.live(#"{"0":1,"63":2,"64":3}"#, MatchFixture.json, many)
        #expect(facets == MatchFixture.live(#"{"0":9,"63":8,"64":3}"#, MatchFixture.json, many))
        #expect(facets != MatchFixture.live(#"{"0":9,"63":8,"64":4}"#, MatchFixture.json, many))
    }
}

struct MatchRuleErrorTests {
    @Test func isItsMessage() {
        let error = MatchRuleError(.tooMany, "too many")
        #expect("\(error)" == "too many")
        #expect("\(error.code)" == "tooMany")
    }

    @Test func codesDiffer() {
        let codes: [MatchRuleError.Code] = [.unknownRule, .unknownPlace, .badPattern, .tooMany, .badJSON]
        #expect(Set(codes).count == codes.count)
    }
}

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

    /// The standard rules have a fast path, which must give the same result.
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
