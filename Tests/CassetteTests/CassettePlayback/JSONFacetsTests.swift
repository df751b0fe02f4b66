@testable import CassettePlayback
import Testing

struct JSONFacetsTests {
    private func facets(_ text: String, _ rules: MatchRules = .standard) -> BodyFacets { MatchFixture.live(text, MatchFixture.json, rules) }

    @Test(arguments: [
        (#"{"a":1,"b":[true,null]}"#, "{ \"b\": [ true,\nnull ], \"a\": 1.0 }"), (#""é\n""#, #""\u00e9\u000a""#),
        (#"{"a/b":"\/"}"#, #"{"a\/b":"/"}"#),
        ("-0", "0"), ("[1e2]", "[100]"), ("{}", " { } "), (#"{"a":1,"a":2}"#, #"{"a":1,"a":2}"#), (#"["\ud800"]"#, #"["\ud800"]"#),
    ]) func equal(left: String, right: String) {
        #expect(self.facets(left) == self.facets(right))
        #expect(self.facets(left).kind == .json)
        #expect(self.facets(left).differences(fromRecorded: self.facets(right)) == [])
    }

    @Test(arguments: [
        (#"{"a":1}"#, #"{"a":2}"#, ["JSON \"/a\" is 1, recorded is 2"]),
        (#"{"a":1}"#, #"{"a":"1"}"#, ["JSON \"/a\" is 1, recorded is \"1\""]),
        ("[1,2]", "[2,1]", ["2 elements of JSON are in another order"]),
        ("{}", "[]", ["JSON is {…}, recorded is […]"]), (#"{"0":1}"#, "[1]", ["JSON is {…}, recorded is […]"]),
        (#"{"a":{}}"#, #"{"a":null}"#, ["JSON \"/a\" is {…}, recorded is null"]),
        (#"{"a":1,"a":2}"#, #"{"a":2,"a":1}"#, ["JSON \"/a\" is 1, recorded is 2", "JSON \"/a\" is 2, recorded is 1"]),
        (#"{"a":{"x":1},"a":{"y":1}}"#, #"{"a":{"x":1,"y":1},"a":{}}"#, nil),
        (#"{"a":1}"#, #"{"a":1,"b":2}"#, ["JSON \"/b\", recorded as 2, is missing"]),
        (#"{"a~/b":"x"}"#, "{}", ["JSON \"/a~0~1b\", which is \"x\", was not recorded"]),
        ("true", "false", ["JSON is true, recorded is false"]),
        (#"["\ud800"]"#, #"["\ud801"]"#, nil), ("9007199254740993", "9007199254740992", nil), (#"{"a":[[],1]}"#, #"{"a":[[1]]}"#, nil),
        ("1e99999999999999999999", "1e99999999999999999998", nil),
    ]) func unequal(left: String, right: String, why: [String]?) {
        #expect(self.facets(left) != self.facets(right))
        let differences = self.facets(left).differences(fromRecorded: self.facets(right)).map(\.description)
        #expect(!differences.isEmpty)
        if let why { #expect(differences == why) }
    }

    @Test func ignoredPlacesAndAllBelowAreLeftOut() throws {
        let rules = try MatchRules(ignore: ["json:/id", "json:/items/*/at", "json:/meta"])
        let recorded = self.facets(#"{"id":1,"items":[{"at":1,"n":1},{"at":2,"n":2}],"meta":{"x":[1,{"y":2}]},"z":1}"#, rules)
        #expect(recorded == self.facets(#"{"z":1,"items":[{"n":1},{"at":"x","n":2}]}"#, rules))
        #expect(recorded != self.facets(#"{"z":1,"items":[{"n":1},{"at":"x","n":3}]}"#, rules))
        #expect(recorded != self.facets(#"{"items":[{"n":1},{"n":2}]}"#, rules))
        #expect(self.facets("[1]", try MatchRules(ignore: ["json:"])) == self.facets("{}", try MatchRules(ignore: ["json:"])))
    }

    @Test func patternsMakeMatchingScalarsAlike() throws {
        let rules = try MatchRules(patterns: ["json:/id=[0-9]+", "json:/list/*=x+"])
        #expect(self.facets(#"{"id":"12"}"#, rules) == self.facets(#"{"id":7}"#, rules))
        #expect(self.facets(#"{"id":"12"}"#, rules) != self.facets(#"{"id":"12a"}"#, rules))
        #expect(self.facets(#"{"id":"12"}"#, rules) != self.facets("{}", rules))
        #expect(self.facets(#"{"list":["x","xx"]}"#, rules) == self.facets(#"{"list":["xx","xxx"]}"#, rules))
        #expect(self.facets(#"{"list":["x","y"]}"#, rules) != self.facets(#"{"list":["x","z"]}"#, rules))
    }

    @Test func placeholdersAreAlike() {
        #expect(self.facets(#"{"token":"{{jwt:1}}"}"#) == self.facets(#"{"token":"{{jwt:9}}"}"#))
        #expect(self.facets(#"{"token":"{{jwt:1}}"}"#).hasMarks)
        #expect(self.facets(#"{"token":"\u007b{jwt:1}}"}"#).hasMarks)
    }

    @Test func anotherSpellingIsEqualAndAChangedLeafIsNamed() throws {
        for seed in 0..<300 as Range<UInt64> {
            var respelling = RespelledJSON(seed: seed)
            let value = respelling.value(depth: 0)
            let text = respelling.text(value)
            #expect(self.facets(text) == self.facets(respelling.text(value)), "\(text)")
            guard let (changed, pointer) = respelling.changed(value) else { continue }
            let differences = self.facets(respelling.text(changed)).differences(fromRecorded: self.facets(text))
            #expect(differences.count == 1, "\(text) \(pointer) \(differences)")
            guard case .json(let found, _?, _?) = differences.first else {
                Issue.record("\(differences)")
                continue
            }
            #expect(found == pointer)
        }
    }

    @Test func hostileTextsAreBounded() {
        // Too deep for JSON: both sides are compared as text.
        let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        #expect(self.facets(deep).kind == .text)
        #expect(self.facets(deep) == self.facets(deep))
        // Many members, many with the same name, and a long name above many values.
        let members = "{" + (0..<100_000).map { "\"k\($0)\":\($0)" }.joined(separator: ",") + "}"
        #expect(self.facets(members).count == 100_001)
        #expect(self.facets(members).facets.count == BodyFacets.facetLimit)
        let twins = "{" + Array(repeating: "\"\":1", count: 100_000).joined(separator: ",") + "}"
        #expect(self.facets(twins).count == 100_001)
        let long =
            "{\"" + String(repeating: "n", count: 1 << 20) + "\":[" + Array(repeating: "1", count: 100_000).joined(separator: ",") + "]}"
        #expect(self.facets(long).count == 100_002)
        #expect(self.facets(long).facets.reduce(0) { $0 + $1.name.count } <= BodyFacets.keptLimit)
    }

    @Test func invalidJSONIsComparedAsText() {
        for text in ["{", "{\"a\":NaN}", "[1,]", "01", "nul"] { #expect(self.facets(text).kind == .text, "\(text)") }
        #expect(MatchFixture.live([0x5B, 0xFF, 0x5D], MatchFixture.json).kind == .bytes)
    }
}
