@testable import CassettePlayback
@testable import TapeBytes
import Testing

/// Rules that rewrite, sort and leave out values on both sides.
struct ValueRulesTests {
    private func facets(_ text: String, _ rules: MatchRules, _ lines: [String] = MatchFixture.json) -> BodyFacets {
        MatchFixture.live(text, lines, rules)
    }

    // MARK: Replacements

    @Test(arguments: [
        ("json:/p=/[0-9]{4}-[0-9]{2}-[0-9]{2}/DATE/", #"{"p":"on 2026-01-02, go"}"#, #"{"p":"on 2027-11-12, go"}"#, true),
        ("json:/p=/[0-9]{4}-[0-9]{2}-[0-9]{2}/DATE/", #"{"p":"on 2026-01-02, go"}"#, #"{"p":"on 2027-11-12, stop"}"#, false),
        ("json:/p=/[0-9]{4}-[0-9]{2}-[0-9]{2}/DATE/", #"{"p":"on 2026-01-02"}"#, #"{"q":"on 2026-01-02"}"#, false),
        ("json:/p=/(id) [0-9]+/$1 N/", #"{"p":"id 5, id 6, no 7"}"#, #"{"p":"id 51, id 62, no 7"}"#, true),
        ("json:/p=/(id) [0-9]+/$1 N/", #"{"p":"id 5, no 7"}"#, #"{"p":"id 5, no 8"}"#, false),
        ("json:/n=/[0-9]$/0/", #"{"n":1231}"#, #"{"n":1235}"#, true), ("json:/n=/[0-9]$/0/", #"{"n":1231}"#, #"{"n":"1230"}"#, false),
        (#"json:/p=#a/b#c#"#, #"{"p":"x a/b"}"#, #"{"p":"x c"}"#, true), (#"json:/p=/a\/b/c/"#, #"{"p":"x a/b"}"#, #"{"p":"x c"}"#, true),
        ("json:/**/p=/[0-9]+/N/", #"{"a":[{"p":"1"}]}"#, #"{"a":[{"p":"2"}]}"#, true),
        ("json:/p|json:/t=/[0-9]+/N/", #"{"p":"{\"t\":\"a1\"}"}"#, #"{"p":"{\"t\":\"a2\"}"}"#, true),
    ]) func replacement(rule: String, recorded: String, live: String, isEqual: Bool) throws {
        let rules = try MatchRules(replace: [rule])
        #expect((self.facets(recorded, rules) == self.facets(live, rules)) == isEqual)
    }

    @Test func aRewrittenPartOfAURLStaysThatPart() throws {
        func key(_ replace: String, _ url: String) throws -> String { MatchFixture.headKey(try MatchRules(replace: [replace]), url, []) }
        // A nameless item is not taken for two items, nor for one with a name.
        let nameless = "query:=/[0-9]/N/"
        #expect(try key(nameless, "http://a.test/x?a%26b1") == key(nameless, "http://a.test/x?a%26b2"))
        #expect(try key(nameless, "http://a.test/x?a%26b1") != key(nameless, "http://a.test/x?a&b1"))
        #expect(try key(nameless, "http://a.test/x?k%3D1") != key(nameless, "http://a.test/x?k=N"))
        // A path does not begin a query.
        let path = "path=#1#?z=1#"
        #expect(try key(path, "http://a.test/x/1") != key(path, "http://a.test/x/?z=1"))
    }

    @Test func replacementsApplyToHeadsFormsAndTexts() throws {
        let rules = try MatchRules(
            match: ["method", "url", "body", "header:x-at"],
            replace: [
                "query:q=/[0-9]+/a&b/", "path=/v[0-9]+/vN/", "host=/^[a-z]+/h/", "header:x-at=/[0-9]+/N/", "form:f=/[0-9]/0/",
                "body=/[0-9]+/N/",
            ])
        func key(_ url: String, _ at: String) -> String { MatchFixture.headKey(rules, url, ["X-At: \(at)"]) }
        #expect(key("http://one.test/v1/x?q=1&r=1", "t1") == key("http://two.test/v22/x?r=1&q=23", "t2"))
        #expect(key("http://one.test/v1/x?q=1", "t1") != key("http://one.test/v1/x?q=1z", "t1"))
        // What is put in is not read as a separator of items.
        #expect(key("http://one.test/v1/x?q=1", "t1") != key("http://one.test/v1/x?q=a&b", "t1"))
        #expect(self.facets("f=a1", rules, MatchFixture.form) == self.facets("f=a2", rules, MatchFixture.form))
        #expect(self.facets("g=a1", rules, MatchFixture.form) != self.facets("g=a2", rules, MatchFixture.form))
        #expect(self.facets("at 12", rules, MatchFixture.text) == self.facets("at 3", rules, MatchFixture.text))
    }

    @Test(arguments: [
        "json:/p=/a/", "json:/p=a/b/", "json:/p=/(a/b/", "json:/p=/a/$2/", "json:/p=//b/", "part:x=/a/b/", "method=/a/b/", "json:/p",
    ])
    func refusedReplacement(_ rule: String) {
        #expect(throws: MatchRuleError.self) { try MatchRules(replace: [rule]) }
    }

    @Test func workOfAReplacementIsBounded() throws {
        // Each match looks for a "b" to the end of the value.
        let replacement = try PlaceReplacement("json:/p=/a(.*b)?/x/")
        let value = [UInt8](repeating: UInt8(ascii: "a"), count: 4096)
        let once = try #require(value.withUnsafeBytes { replacement.applied(to: $0) })
        #expect(once.count == value.count)
        let replaced = once.count { $0 == UInt8(ascii: "x") }
        #expect(replaced > 1)
        #expect(replaced <= 2 * PlaceReplacement.passLimit)
        #expect(value.withUnsafeBytes { replacement.applied(to: $0) } == once)
        let growing = try PlaceReplacement("json:/p=/a/\(String(repeating: "y", count: 100))/")
        #expect(value.withUnsafeBytes { growing.applied(to: $0) } == nil)
    }

    @Test func missesShowRewrittenValues() throws {
        let rules = try MatchRules(replace: ["json:/p=/[0-9]+/N/"])
        let differences = self.facets(#"{"p":"a 2 c"}"#, rules).differences(fromRecorded: self.facets(#"{"p":"a 1 b"}"#, rules))
        #expect(differences.map(\.description) == [#"JSON "/p" is "a N c", recorded is "a N b""#])
    }

    // MARK: Order

    @Test(arguments: [
        (["json:/t"], #"{"t":[{"n":1,"d":[1,2]},{"n":2}]}"#, #"{"t":[{"n":2},{"d":[1,2],"n":1}]}"#, true),
        (["json:/t"], #"{"t":[{"n":1,"d":[1,2]},{"n":2}]}"#, #"{"t":[{"n":2},{"d":[2,1],"n":1}]}"#, false),
        (["json:/t"], #"{"t":[{"a":1,"b":2},{"a":3,"b":4}]}"#, #"{"t":[{"a":1,"b":4},{"a":3,"b":2}]}"#, false),
        (["json:/t"], #"{"t":[1,2,2]}"#, #"{"t":[2,1,2]}"#, true), (["json:/t"], #"{"t":[1,2,2]}"#, #"{"t":[2,1,1]}"#, false),
        (["json:/t"], #"{"t":[[1],[2]]}"#, #"{"t":[[2],[1]]}"#, true), (["json:/t"], #"{"t":[[1,2],[]]}"#, #"{"t":[[1],[2]]}"#, false),
        (["json:/t"], #"{"t":[1,2],"u":[1,2]}"#, #"{"t":[1,2],"u":[2,1]}"#, false),
        (["json:/**/r"], #"{"t":[{"r":["a","b"]}]}"#, #"{"t":[{"r":["b","a"]}]}"#, true),
        (["json:/t", "json:/t/**/r"], #"{"t":[{"n":1,"r":["a","b"]},{"n":2}]}"#, #"{"t":[{"n":2},{"n":1,"r":["b","a"]}]}"#, true),
        (
            ["json:/t", "json:/t/**/r"], #"{"t":[{"n":1,"r":["a"]},{"n":2,"r":["b"]}]}"#, #"{"t":[{"n":1,"r":["b"]},{"n":2,"r":["a"]}]}"#,
            false
        ),
        (["json:"], "[1,2]", "[2,1]", true), (["json:/a|json:/l"], #"{"a":"{\"l\":[1,2]}"}"#, #"{"a":"{\"l\":[2,1]}"}"#, true),
    ]) func sorted(rules: [String], recorded: String, live: String, isEqual: Bool) throws {
        let rules = try MatchRules(sort: rules)
        #expect((self.facets(recorded, rules) == self.facets(live, rules)) == isEqual)
        #expect(self.facets(recorded, rules).differences(fromRecorded: self.facets(live, rules)).isEmpty == isEqual)
    }

    @Test func placeholdersFitInSortedElements() throws {
        let rules = try MatchRules(sort: ["json:/t"]).keepingWholeValues()
        let recorded = self.facets(#"{"t":[{"k":"{{key:1}}","n":1},{"n":2}]}"#, rules)
        #expect(recorded.fits(live: self.facets(#"{"t":[{"n":2},{"n":1,"k":"s3cret"}]}"#, rules)))
        #expect(!recorded.fits(live: self.facets(#"{"t":[{"n":2},{"n":3,"k":"s3cret"}]}"#, rules)))
    }

    // MARK: Missing values

    @Test(arguments: [
        ("json:/m", #"{"a":1,"m":{"x":1}}"#, #"{"a":1}"#, true), ("json:/m", #"{"a":1}"#, #"{"a":1,"m":{"x":1}}"#, true),
        ("json:/m", #"{"a":1,"m":{"x":1}}"#, #"{"a":1,"m":{"x":1}}"#, true),
        ("json:/m", #"{"a":1,"m":{"x":1}}"#, #"{"a":1,"m":{"x":2}}"#, false),
        ("json:/m", #"{"a":1,"m":{"x":1}}"#, #"{"a":1,"m":{}}"#, false), ("json:/m", #"{"a":1,"m":1}"#, #"{"a":2}"#, false),
        ("json:/m", #"{"a":1,"m":1}"#, #"{"a":1,"n":1}"#, false), ("json:/**/s", #"{"a":{"s":true,"b":1}}"#, #"{"a":{"b":1}}"#, true),
        ("json:/**/s", #"{"a":{"s":1},"b":{"s":2}}"#, #"{"a":{"s":1},"b":{}}"#, true),
        ("json:/**/s", #"{"a":{"s":1},"b":{"s":2}}"#, #"{"a":{"s":2},"b":{}}"#, false),
        ("json:/a|json:/s", #"{"a":"{\"s\":1,\"b\":2}"}"#, #"{"a":"{\"b\":2}"}"#, true),
    ]) func optional(rule: String, recorded: String, live: String, fits: Bool) throws {
        let rules = try MatchRules(optional: [rule])
        let (recorded, live) = (self.facets(recorded, rules), self.facets(live, rules))
        #expect(recorded.fits(live: live) == fits)
        #expect(live.differences(fromRecorded: recorded).isEmpty == (recorded == live))
        if fits { #expect(recorded.core == live.core) }
    }

    @Test func optionalFormFields() throws {
        let rules = try MatchRules(optional: ["form:m"])
        let recorded = self.facets("a=1&m=2", rules, MatchFixture.form)
        #expect(recorded.fits(live: self.facets("a=1", rules, MatchFixture.form)))
        #expect(!recorded.fits(live: self.facets("a=1&m=3", rules, MatchFixture.form)))
        #expect(!recorded.fits(live: self.facets("a=2", rules, MatchFixture.form)))
    }

    @Test func elementsOfSortedArraysMustBeWhole() throws {
        let rules = try MatchRules(sort: ["json:/t"], optional: ["json:/t/*/s"])
        let recorded = self.facets(#"{"t":[{"n":1,"s":1},{"n":2,"s":2}]}"#, rules)
        #expect(!recorded.fits(live: self.facets(#"{"t":[{"n":1,"s":2},{"n":2,"s":1}]}"#, rules)))
    }

    @Test(arguments: ["query:a", "part:a", "json:", "xml:/a", "form:a|json:/x"]) func refusedAsOptional(_ place: String) {
        #expect(throws: MatchRuleError.self) { try MatchRules(optional: [place]) }
    }

    // MARK: Presets

    @Test(arguments: RulePreset.allCases) func presetsAreRules(_ preset: RulePreset) throws {
        let rules = try MatchRules(preset.rules)
        #expect(!rules.texts.isEmpty)
        #expect(try RulePreset(preset.rawValue) == preset)
    }

    @Test func allPresetsFitTogether() throws {
        #expect(throws: Never.self) { try MatchRules(RulePreset.allCases.reduce(MatchRuleTexts()) { $0.adding($1.rules) }) }
        #expect(throws: MatchRuleError.self) { try RulePreset("other") }
    }

    @Test(arguments: [
        ("Today is 2026-11-29.", "Today is 2027-01-02."),
        ("Current date: Sunday, November 29, 2026", "Current date: Monday, January 4, 2027"),
        ("The current time is 2026-11-29T07:15:39.123Z, go", "The current time is 2027-01-02 08:00:00 UTC, go"),
    ]) func todaysDateInAPromptDoesNotCount(recorded: String, live: String) throws {
        let rules = try MatchRules(RulePreset.openAI.rules)
        func body(_ text: String) -> BodyFacets { self.facets(#"{"messages":[{"role":"user","content":"\#(text)"}]}"#, rules) }
        #expect(body(recorded) == body(live))
        #expect(body("What happened on 1969-07-20?") != body("What happened on 1989-11-09?"))
        #expect(body(recorded + " Tokyo") != body(live + " Seoul"))
    }

    @Test func jsonRPCIgnoresIdsOfCallsOnly() throws {
        let rules = try MatchRules(RulePreset.jsonRPC.rules)
        func facets(_ id: Int, _ inner: Int) -> BodyFacets {
            self.facets(#"{"jsonrpc":"2.0","id":\#(id),"params":{"id":\#(inner)}}"#, rules)
        }
        func batch(_ id: Int, _ inner: Int) -> BodyFacets {
            self.facets(#"[{"jsonrpc":"2.0","id":\#(id),"params":{"id":\#(inner)}}]"#, rules)
        }
        // An agent that talks to servers of MCP calls other interfaces, too.
        #expect(self.facets(#"{"id":17}"#, rules) != self.facets(#"{"id":18}"#, rules))
        #expect(self.facets(#"[{"id":17}]"#, rules) != self.facets(#"[{"id":18}]"#, rules))
        #expect(facets(1, 5) == facets(2, 5))
        #expect(facets(1, 5) != facets(1, 6))
        #expect(batch(1, 5) == batch(2, 5))
        #expect(batch(1, 5) != batch(1, 6))
    }

    @Test(arguments: [
        ("xYz0123456789abc", "qQ9qQ9qQ9qQ9qQ9q"), ("6f1c1c52-9d2e-4a4e-8f4c-1f0a5b2f0c11", "00000000-9d2e-4a4e-8f4c-1f0a5b2f0c22"),
        ("AbCdEfGhIjKlMnOpQrStUvWx", "zyxwvutsrqponmlkjihgfedcba"),
    ]) func aDrawnStateOfOAuthDoesNotCount(recorded: String, live: String) throws {
        let rules = try MatchRules(RulePreset.oauth.rules)
        func key(_ state: String) -> String { MatchFixture.headKey(rules, "http://h/auth?client=1&state=\(state)") }
        #expect(key(recorded) == key(live))
        // Other interfaces have states as well.
        #expect(key("open") != key("closed") && key("open") != key(live) && key("NY") != key("CA"))
    }

    /// The client of MCP 2025-11-25 names the call that it cancels.
    @Test func aCancelledCallOfMCPMayHaveAnyNumber() throws {
        let rules = try MatchRules(RulePreset.mcp.rules)
        func facets(_ id: Int, _ reason: String) -> BodyFacets {
            self.facets(
                #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":\#(id),"reason":"\#(reason)"}}"#, rules)
        }
        #expect(facets(3, "late") == facets(503, "late"))
        #expect(facets(3, "late") != facets(3, "other"))
    }

    /// Clients send the ids that one server gave to another, and make their own for servers that give none.
    @Test(arguments: [
        "call_b7Zx90", "toolu_01A09q90qw90lq917835lq9", "srvtoolu_01WYG3", "tooluse_kZJMlvQmRJ6eAyJE5GIl7Q",
        "pyd_ai_7d1c5c6b8f0e4b2f9a3d5e7f1a2b3c4d", "chatcmpl-tool-b3e2f1", "D681PevKs",
    ])
    func idsOfCallsOfEveryServerAreEqual(id: String) throws {
        func message(_ preset: RulePreset, _ id: String, _ text: String) -> String {
            switch preset {
            case .openAI: #"{"messages":[{"role":"tool","tool_call_id":"\#(id)","content":"\#(text)"}]}"#
            case .anthropic: #"{"messages":[{"content":[{"type":"tool_result","tool_use_id":"\#(id)","content":"\#(text)"}]}]}"#
            default: #"{"messages":[{"content":[{"toolResult":{"toolUseId":"\#(id)","content":[{"text":"\#(text)"}]}}]}]}"#
            }
        }
        for preset in [RulePreset.openAI, .anthropic, .bedrock] {
            let rules = try MatchRules(preset.rules)
            func facets(_ id: String, _ text: String = "sunny") -> BodyFacets { self.facets(message(preset, id, text), rules) }
            #expect(facets(id) == facets("call_1"))
            #expect(facets(id) != facets("call_1", "rainy") && facets(id) != facets("get_weather"))
        }
    }

    // MARK: Heads

    @Test func headsContainAllRules() throws {
        let texts = MatchRuleTexts(
            match: ["method"], ignore: ["json:/a"], patterns: ["json:/b=1"], replace: ["json:/c=/a/b/"], sort: ["json:/d"],
            optional: ["json:/e"])
        let member = try #require(texts.headMember)
        let document = try JSONDocument(member.json)
        #expect(try MatchRuleTexts(document.root) == texts)
        #expect(texts.adding(texts).once == texts)
        #expect(try MatchRules(texts.adding(texts)).texts == texts)
    }

    /// As written, though plain pointers are found in another way than paths that reach.
    @Test(arguments: [["json:/**/p=/a/b/", "json:/p=/b/c/"], ["json:/p=/a/b/", "json:/**/p=/b/c/"]])
    func replacementsKeepTheirOrder(replace: [String]) throws {
        let rules = try MatchRules(replace: replace)
        #expect(MatchFixture.differences(#"{"p":"a"}"#, #"{"p":"c"}"#, MatchFixture.json, rules).isEmpty)
    }

    @Test func numbersAreComparedByTheirValueAfterAReplacement() throws {
        let rules = try MatchRules(replace: ["json:/p=/^2027/2026/"])
        #expect(MatchFixture.differences(#"{"p":20271}"#, #"{"p":20261}"#, MatchFixture.json, rules).isEmpty)
        #expect(MatchFixture.differences(#"{"p":2027.50}"#, #"{"p":2026.5}"#, MatchFixture.json, rules).isEmpty)
        #expect(!MatchFixture.differences(#"{"p":20271}"#, #"{"p":20262}"#, MatchFixture.json, rules).isEmpty)
    }
}
