@testable import CassettePlayback
import Testing

/// Rules whose places reach any depth, elements by a member, names by expression, and into strings.
struct ReachingPlacesTests {
    private static let encoded = (
        number: "MTIz", other: "NDU2Nw==", word: "YWJj", object: "eyJ0IjoxLCJrIjoyfQ", later: "eyJ0Ijo5LCJrIjoyfQ=="
    )

    struct Case: Sendable, CustomTestStringConvertible {
        var rule: String
        var recorded: String
        var live: String
        var isEqual: Bool
        var lines = MatchFixture.json

        var testDescription: String { "\(self.rule): \(self.live)" }
    }

    @Test(arguments: [
        Case(rule: "json:/**/id", recorded: #"{"a":[{"b":{"id":1,"x":1}}]}"#, live: #"{"a":[{"b":{"id":2,"x":1}}]}"#, isEqual: true),
        Case(rule: "json:/**/id", recorded: #"{"a":[{"id":1,"x":1}]}"#, live: #"{"a":[{"id":2,"x":2}]}"#, isEqual: false),
        Case(rule: "json:/**/id", recorded: #"{"id":1}"#, live: #"{"id":2}"#, isEqual: true),
        Case(rule: "json:/a/**/id", recorded: #"{"id":1,"a":{"id":5}}"#, live: #"{"id":1,"a":{"id":6}}"#, isEqual: true),
        Case(rule: "json:/a/**/id", recorded: #"{"id":1,"a":{"id":5}}"#, live: #"{"id":2,"a":{"id":5}}"#, isEqual: false),
        Case(rule: "json:/**/a/**/b", recorded: #"{"x":{"a":{"y":{"b":1}}}}"#, live: #"{"x":{"a":{"y":{"b":2}}}}"#, isEqual: true),
        Case(rule: "json:/**/a/**/b", recorded: #"{"x":{"y":{"b":1}}}"#, live: #"{"x":{"y":{"b":2}}}"#, isEqual: false),
        Case(
            rule: "json:/tools[name=search]/d", recorded: #"{"tools":[{"name":"x","d":1},{"d":2,"name":"search"}]}"#,
            live: #"{"tools":[{"name":"x","d":1},{"d":3,"name":"search"}]}"#, isEqual: true),
        Case(
            rule: "json:/tools[name=search]/d", recorded: #"{"tools":[{"name":"x","d":1},{"d":2,"name":"search"}]}"#,
            live: #"{"tools":[{"name":"x","d":9},{"d":2,"name":"search"}]}"#, isEqual: false),
        Case(
            rule: "json:/t[n=7]/d", recorded: #"{"t":[{"n":7.0,"d":1},{"n":70,"d":1}]}"#, live: #"{"t":[{"d":2,"n":7e0},{"n":70,"d":1}]}"#,
            isEqual: true),
        Case(rule: "json:/t[n=7]/d", recorded: #"{"t":[{"n":"7.0","d":1}]}"#, live: #"{"t":[{"n":"7.0","d":2}]}"#, isEqual: false),
        Case(rule: "json:/tools[n=7]/d", recorded: #"{"tools":{"n":7,"d":1}}"#, live: #"{"tools":{"n":7,"d":2}}"#, isEqual: false),
        Case(
            rule: "json:/[type=image]/data", recorded: #"[{"type":"image","data":1}]"#, live: #"[{"type":"image","data":2}]"#, isEqual: true
        ),
        Case(rule: "json:/**/[k=1]/v", recorded: #"{"a":[[{"k":1,"v":1}]]}"#, live: #"{"a":[[{"k":1,"v":2}]]}"#, isEqual: true),
        Case(rule: "json:/**/~^x-", recorded: #"{"a":{"x-id":1,"y":2}}"#, live: #"{"a":{"x-id":3,"y":2}}"#, isEqual: true),
        Case(rule: "json:/**/~^x-", recorded: #"{"a":{"ax-":2}}"#, live: #"{"a":{"ax-":3}}"#, isEqual: false),
        Case(rule: "json:/**/~^[0-9]", recorded: #"{"a":[1]}"#, live: #"{"a":[2]}"#, isEqual: false),
        Case(
            rule: "json:/call|json:/query", recorded: #"{"call":"{\"query\":\"a\",\"n\":1}"}"#,
            live: #"{"call":"{\"n\":1, \"query\":\"b\"}"}"#, isEqual: true),
        Case(
            rule: "json:/call|json:/query", recorded: #"{"call":"{\"query\":\"a\",\"n\":1}"}"#,
            live: #"{"call":"{\"query\":\"a\",\"n\":2}"}"#, isEqual: false),
        Case(rule: "json:/call|json:/query", recorded: #"{"call":"{\"query\":1}"}"#, live: #"{"call":{"query":1}}"#, isEqual: false),
        Case(rule: "json:/call|json:/query", recorded: #"{"call":"1"}"#, live: #"{"call":"1.0"}"#, isEqual: false),
        Case(
            rule: "json:/**/arguments|json:/**/id", recorded: #"{"c":[{"arguments":"{\"q\":[{\"id\":1}]}"}]}"#,
            live: #"{"c":[{"arguments":"{\"q\":[{\"id\":2}]}"}]}"#, isEqual: true),
        Case(
            rule: "json:/a|json:/b|json:/c", recorded: #"{"a":"{\"b\":\"{\\\"c\\\":1}\"}"}"#, live: #"{"a":"{\"b\":\"{\\\"c\\\":2}\"}"}"#,
            isEqual: true),
        Case(
            rule: "json:/c|base64|json:/t", recorded: #"{"c":"\#(Self.encoded.object)"}"#, live: #"{"c":"\#(Self.encoded.later)"}"#,
            isEqual: true),
        Case(
            rule: "json:/c|base64|json:/k", recorded: #"{"c":"\#(Self.encoded.object)"}"#, live: #"{"c":"\#(Self.encoded.later)"}"#,
            isEqual: false),
        Case(rule: "json:/q|form:ts", recorded: #"{"q":"a=1&ts=5"}"#, live: #"{"q":"ts=7&a=1"}"#, isEqual: true),
        Case(rule: "json:/q|form:ts", recorded: #"{"q":"a=1&ts=5"}"#, live: #"{"q":"a=2&ts=5"}"#, isEqual: false),
        // {"alg":"x"} . {"iat":1} and {"iat":2}
        Case(
            rule: "json:/t|jwt:/payload/iat", recorded: #"{"t":"eyJhbGciOiJ4In0.eyJpYXQiOjF9.AA"}"#,
            live: #"{"t":"eyJhbGciOiJ4In0.eyJpYXQiOjJ9.AA"}"#, isEqual: true),
        Case(
            rule: "json:/t|jwt:/payload/iat", recorded: #"{"t":"eyJhbGciOiJ4In0.eyJpYXQiOjF9.AA"}"#,
            live: #"{"t":"eyJhbGciOiJ4In0.eyJpYXQiOjJ9.BB"}"#, isEqual: false),
        Case(
            rule: "form:user[*]", recorded: "user[a]=1&user[b]=2&z=1", live: "user[a]=3&user[b]=4&z=1", isEqual: true,
            lines: MatchFixture.form),
        Case(rule: "form:user[*]", recorded: "user[a]=1&z=1", live: "user[a]=1&z=2", isEqual: false, lines: MatchFixture.form),
        Case(rule: "form:user[*]", recorded: "user[a][b]=1", live: "user[a][b]=2", isEqual: false, lines: MatchFixture.form),
        Case(rule: "form:user[*][b]", recorded: "user[a][b]=1", live: "user[a][b]=2", isEqual: true, lines: MatchFixture.form),
        Case(
            rule: "form:d|base64|json:/t", recorded: "d=\(Self.encoded.object)",
            live: "d=\(Self.encoded.later)".replacing("==", with: "%3D%3D"),
            isEqual: true, lines: MatchFixture.form),
        Case(
            rule: "xml:/**/id", recorded: "<a><b><id>1</id></b></a>", live: "<a><b><id>2</id></b></a>", isEqual: true,
            lines: ["Content-Type: text/xml"]),
        Case(
            rule: "xml:/**/@id", recorded: "<a><b id='1' x='1'/></a>", live: "<a><b id='2' x='2'/></a>", isEqual: false,
            lines: ["Content-Type: text/xml"]),
    ]) func ignoredPlace(_ example: Case) throws {
        let rules = try MatchRules(ignore: [example.rule])
        let recorded = MatchFixture.live(example.recorded, example.lines, rules)
        let live = MatchFixture.live(example.live, example.lines, rules)
        #expect((recorded == live) == example.isEqual)
        #expect(recorded.kind != .bytes)
    }

    @Test func patternsReachIntoStrings() throws {
        let rules = try MatchRules(patterns: ["json:/c|base64=[0-9]+", "json:/tools[name=a=b]/n=[0-9]+"])
        func facets(_ text: String) -> BodyFacets { MatchFixture.live(text, MatchFixture.json, rules) }
        #expect(facets(#"{"c":"\#(Self.encoded.number)"}"#) == facets(#"{"c":"\#(Self.encoded.other)"}"#))
        #expect(facets(#"{"c":"\#(Self.encoded.number)"}"#) != facets(#"{"c":"\#(Self.encoded.word)"}"#))
        #expect(facets(#"{"tools":[{"name":"a=b","n":1}]}"#) == facets(#"{"tools":[{"name":"a=b","n":2}]}"#))
        #expect(facets(#"{"tools":[{"name":"a","n":1}]}"#) != facets(#"{"tools":[{"name":"a","n":2}]}"#))
    }

    @Test func differencesInStringsHaveAPlaceOfTheirOwn() throws {
        let rules = try MatchRules(ignore: ["json:/a|json:/x"])
        let differences = MatchFixture.live(#"{"a":"{\"x\":1,\"y\":2}"}"#, MatchFixture.json, rules)
            .differences(fromRecorded: MatchFixture.live(#"{"a":"{\"x\":1,\"y\":3}"}"#, MatchFixture.json, rules))
        #expect(differences.map(\.description) == [#"JSON "/a|json:/y" is 2, recorded is 3"#])
        #expect(differences.map(\.ignorablePlace) == ["json:/a|json:/y"])
    }

    @Test(arguments: ["a*", "*", "**", "x[a=b]", "a|json:b", "~^x", "a/b", "[", "a[b]"]) func namesAreEscapedInSuggestions(_ name: String)
        throws
    {
        func body(_ value: Int) -> String { "{\"\(name)\":\(value),\"z\":0}" }
        let differences = MatchFixture.live(body(1), MatchFixture.json).differences(
            fromRecorded: MatchFixture.live(body(2), MatchFixture.json))
        let place = try #require(differences.first?.ignorablePlace)
        let rules = try MatchRules(ignore: [place])
        func facets(_ text: String) -> BodyFacets { MatchFixture.live(text, MatchFixture.json, rules) }
        #expect(facets(body(1)) == facets(body(2)))
        #expect(facets(#"{"other":1}"#) != facets(#"{"other":2}"#))
        #expect(facets(#"{"z":1}"#) != facets(#"{"z":2}"#))
    }

    @Test(arguments: [
        ("json:/**", "without a name after it"), ("json:/a/**/**/b", "without a name after it"),
        ("json:/a|json:/b|json:/c|json:/d|json:/e|json:/f", "more than 4 strings"), ("json:/~^(a", "expression"),
        ("json:/a|json:", "names nothing after"), ("json:/a|form:", "names no field"), ("part:x|base64", "decodes a part"),
        ("xml:/**", "names no element"), ("grpc:/a[b=c]", "only places in JSON"), ("json:/~9", "without 0 or 1"),
    ]) func refused(_ place: String, why: String) {
        let error = #expect(throws: MatchRuleError.self) { try MatchRules(ignore: [place]) }
        #expect(error?.message.contains(why) == true, "\(error?.message ?? "")")
    }

    @Test func segmentsAreLimited() {
        let error = #expect(throws: MatchRuleError.self) { try MatchRules(ignore: (0..<65).map { "json:/**/a\($0)/b" }) }
        #expect(error?.code == .tooMany)
        #expect(error?.message.contains("260 segments") == true)
        #expect(throws: Never.self) { try MatchRules(ignore: (0..<64).map { "json:/**/a\($0)/b" }) }
    }

    @Test(arguments: ["json:/**/id", "json:/a[b=c]/d", "json:/a|json:/b", "form:a|base64|json:/x", "xml:/**/a"])
    func placesThatReachAreForComparisonOnly(_ place: String) throws {
        #expect(throws: MatchRuleError.self) { try MatchPlace(place) }
        #expect(try MatchPlace(reaching: place).description == place)
    }
}
