import Testing

@testable import CassettePlayback

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
        (["nothing"], "\"nothing\" is not a match rule; write method"), ([], "names no rule"),
        (["body:xml"], "\"body:xml\" is not a match rule"),
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
