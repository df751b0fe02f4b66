@testable import CassettePlayback
import Testing

struct GraphQLFacetsTests {
    private let rules = MatchRules.graphQL

    private func facets(_ body: String, url: String = "http://a.test/g") -> BodyFacets {
        MatchFixture.live(body, body.isEmpty ? [] : MatchFixture.json, self.rules, url: url)
    }

    @Test(arguments: [
        (
            #"{"operationName":"A","query":"query A { a }","variables":{"x":1,"y":2}}"#,
            #"{"query":"query A { a b }","variables":{"y":2.0,"x":1},"operationName":"A"}"#
        ),
        (#"{"query":"{ a\n  b }"}"#, #"{"query":"{ a b }\n","variables":{},"operationName":null}"#),
        (#"{"query":"{a}","extensions":{"x":1}}"#, #"{"query":"{a}"}"#),
        (#"{"query":"query A { a }"}"#, #"{"query":"query A {\n  a\n}","operationName":"A"}"#),
        (#"{"query":"query A { a }"}"#, #"{"extensions":{"persistedQuery":{"sha256Hash":"a"}},"operationName":"A"}"#),
        (#"[{"query":"{a}"},{"operationName":"B","query":"x"}]"#, #"[{"query":" {a} "},{"operationName":"B"}]"#),
    ]) func equal(left: String, right: String) {
        #expect(self.facets(left) == self.facets(right))
        #expect(self.facets(left).kind == .graphQL)
    }

    @Test(arguments: [
        (#"{"operationName":"A"}"#, #"{"operationName":"B"}"#, "JSON \"/operationName\" is \"A\", recorded is \"B\""),
        (#"{"query":"{a}","variables":{"x":1}}"#, #"{"query":"{a}","variables":{"x":2}}"#, "JSON \"/variables/x\" is 1, recorded is 2"),
        (#"{"query":"{a}"}"#, #"{"query":"{b}"}"#, "JSON \"/query\" is \"{a}\", recorded is \"{b}\""),
        (#"[{"query":"{a}"}]"#, #"[{"query":"{b}"}]"#, "JSON \"/0/query\" is \"{a}\", recorded is \"{b}\""),
        (
            #"{"extensions":{"persistedQuery":{"sha256Hash":"a"}}}"#, #"{"extensions":{"persistedQuery":{"sha256Hash":"b"}}}"#,
            "JSON \"/extensions/persistedQuery/sha256Hash\" is \"a\", recorded is \"b\""
        ),
    ]) func unequal(left: String, right: String, why: String) {
        #expect(self.facets(left) != self.facets(right))
        #expect(self.facets(left).differences(fromRecorded: self.facets(right)).map(\.description) == [why])
    }

    /// A search with a member of the same name: the whole body counts.
    @Test(arguments: [
        #"{"query":"cats","size":10}"#, #"{"query":{"match":1}}"#, "[]", "[1]", #"{"variables":{}}"#, #"{"query":"a","query":"b"}"#, "1",
    ])
    func anythingElseIsJSON(body: String) {
        #expect(self.facets(body).kind == .json)
    }

    @Test func aRequestInTheURLIsComparedTheSameWay() {
        func url(_ query: String) -> BodyFacets { self.facets("", url: "http://a.test/g?\(query)") }
        #expect(url("query=%7Ba%20%7D&variables=%7B%22x%22:1%7D") == url("variables=%7B%22x%22%3A1.0%7D&query=%7Ba+%7D&other=1"))
        #expect(url("query=%7Ba%7D") != url("query=%7Bb%7D"))
        #expect(url("query=a&operationName=A") == url("query=b&operationName=A"))
        #expect(url("query=a&operationName=A") != url("query=b&operationName=B"))
        #expect(url("query=a&variables=x") != url("query=a&variables=y"))
        #expect(url("query=a&variables=%7B%22x%22:1%7D") != url("query=a&variables=%7B%22x%22:2%7D"))
        #expect(url("query=query+A%7Ba%7D") == url("query=query%20A%20%7Bb%7D&operationName=A"))
        #expect(url("a=b") == .none)
        #expect(url("query=a") != .none)
    }

    @Test func pointersOfRulesFollowTheBody() throws {
        let rules = try MatchRules(match: ["graphql"], ignore: ["json:/variables/at"])
        func facets(_ at: String) -> BodyFacets {
            MatchFixture.live(#"{"query":"{a}","variables":{"at":"# + at + "}}", MatchFixture.json, rules)
        }
        #expect(facets("1") == facets("2"))
    }

    @Test(arguments: ["variables", "operationName", "query"])
    func itemsOfTheURLAreLeftOut(name: String) throws {
        let rules = try MatchRules(match: ["graphql"], ignore: ["query:\(name)"])
        func facets(_ value: String) -> BodyFacets { MatchFixture.live("", [], rules, url: "http://a.test/g?\(name)=\(value)") }
        #expect(facets("a") == facets("b"))
    }

    @Test func aLongBodyIsJSON() {
        let body = #"{"query":"{a}","variables":{"x":""# + String(repeating: "y", count: GraphQLFacets.sizeLimit) + "\"}}"
        #expect(self.facets(body).kind == .json)
    }
}

extension MatchRules {
    fileprivate static let graphQL = (try? MatchRules(match: ["method", "url", "graphql"])) ?? .standard
}

struct GraphQLOperationNameTests {
    @Test(
        arguments: [
            ("query A { a }", "A"), ("mutation Add($x: Int = 1, $y: [Int!]) @d(a: {b: 1}) { a }", "Add"), ("subscription\n\tS_1{a}", "S_1"),
            ("# query B {}\nquery A { a }", "A"), ("fragment F on query { a } query A { ...F }", "A"),
            ("query A { a(x: \"} query B {\") }", "A"), ("query A { a(x: \"\"\"\\\"\"\" } query B { \"\"\") }", "A"),
            ("query A { query mutation { query } }", "A"), (",,query,A,{a}", "A"), ("query A($q: String = \"\\\"\") { a }", "A"),
        ] as [(String, String)]) func oneOperationHasAName(query: String, name: String)
    {
        #expect(GraphQLOperationName.only(in: Array(query.utf8)) == Array(name.utf8))
    }

    @Test(arguments: [
        "{ a }", "query { a }", "query ($x: Int) { a }", "query A { a } query B { b }", "query A { a } { b }", "fragment F on T { a }", "",
        "query", "\"", "\"\"\"", "}}}", "query \"A\" { a }", "\"\\",
    ])
    func anythingElseHasNone(query: String) {
        #expect(GraphQLOperationName.only(in: Array(query.utf8)) == nil)
    }
}
