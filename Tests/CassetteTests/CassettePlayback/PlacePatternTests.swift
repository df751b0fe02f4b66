@testable import CassettePlayback
@testable import TapeBytes
import Testing

struct PlacePatternTests {
    @Test func theFirstEqualsSignDivides() throws {
        let pattern = try PlacePattern("query:ts=[0-9]+=")
        #expect(pattern.place == .queryItem("ts"))
        #expect(pattern.pattern.text == "[0-9]+=")
    }

    @Test(arguments: ["query:ts", "method=GET", "body=x", "query=x", "nowhere=x"])
    func refusesPlacesWithoutAValue(text: String) {
        #expect(throws: MatchRuleError.self) { try PlacePattern(text) }
    }
}

struct NumberedPatternTests {
    @Test func theFirstPatternThatMatchesTheWholeValueIsUsed() throws {
        let patterns = try NumberedPattern.all([PlacePattern("path=a+"), PlacePattern("path=[ab]+")]).map(\.0)
        func stand(_ value: String) -> String? {
            Array(value.utf8).withUnsafeBytes { NumberedPattern.substitute(for: $0, among: patterns) }.map {
                String(decoding: $0, as: UTF8.self)
            }
        }
        #expect(stand("aa") == "{{=1}}")
        #expect(stand("ab") == "{{=2}}")
        #expect(stand("abc") == nil)
    }
}

struct PointerSetTests {
    /// The set's answer for a path.
    private func verdict(_ set: PointerSet, _ path: [String]) -> String {
        var rules = set.all
        for (depth, name) in path.enumerated() {
            rules = Array(name.utf8).withUnsafeBytes { set.descend(rules, depth: depth, name: $0) }
        }
        switch set.verdict(rules, depth: path.count) {
        case .compared: return "compared"
        case .ignored: return "ignored"
        case .ruled(let rules): return "patterns \(rules.patterns.map(\.number))"
        }
    }

    @Test func followsAllPointersTogether() throws {
        let rules = try MatchRules(ignore: ["json:/a/b", "json:/list/*/id"], patterns: ["json:/a/c=x", "json:/*/c=y"])
        let set = rules.body.pointers
        for (path, expected) in [
            ([], "compared"), (["a"], "compared"), (["a", "b"], "ignored"), (["a", "b", "c"], "compared"), (["a", "c"], "patterns [1, 2]"),
            (["b", "c"], "patterns [2]"), (["list", "7", "id"], "ignored"), (["list", "id"], "compared"),
        ] {
            #expect(self.verdict(set, path) == expected, "\(path)")
        }
    }

    @Test func theEmptyPointerIsTheWhole() throws {
        #expect(try self.verdict(MatchRules(ignore: ["json:"]).body.pointers, []) == "ignored")
    }
}
