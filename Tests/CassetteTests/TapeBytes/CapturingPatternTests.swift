@testable import TapeBytes
import Testing

@Suite struct CapturingPatternTests {
    private func groups(_ pattern: String, _ text: String) throws -> [String?] {
        let pattern = try CapturingPattern(pattern)
        return Array(text.utf8).withUnsafeBytes { bytes in
            guard let match = pattern.pattern.firstRange(in: bytes) else { return [] }
            return pattern.groups(of: match, in: bytes).map { $0.map { String(decoding: bytes[$0], as: UTF8.self) } }
        }
    }

    @Test(arguments: [
        ("a(b)c", "xabcx", ["abc", "b"]), ("(a+)(b*)", "aab", ["aab", "aa", "b"]), ("(a)|(b)", "b", ["b", nil, "b"]),
        ("(?:a)(b)", "ab", ["ab", "b"]), ("((a)(b))c", "abc", ["abc", "ab", "a", "b"]), ("(a|ab)(c|bcd)", "abcd", ["abcd", "a", "bcd"]),
        ("(a)*", "aaa", ["aaa", "a"]), ("(x?)y", "y", ["y", ""]), ("\\b(\\w+)\\b", "é über", ["ber", "ber"]),
        ("(?i)(ID)=([0-9]{2,3})", "id=1234", ["id=123", "id", "123"]), ("(é+)", "aéé", ["éé", "éé"]), ("no", "yes", []),
        ("^(a)$", "a", ["a", "a"]), ("(a*)*b", "aab", ["aab", "aa"]),
    ])
    func groupsOfTheFirstMatch(pattern: String, text: String, expected: [String?]) throws {
        #expect(try self.groups(pattern, text) == expected)
    }

    @Test func groupsAreCounted() throws {
        #expect(try CapturingPattern("a").groupCount == 0)
        #expect(try CapturingPattern("(a)(?:b)((c))").groupCount == 3)
        #expect(throws: PatternError.self) { try CapturingPattern("(") }
    }

    @Test func aLongMatchTakesTimeInLine() throws {
        // With backtracking, this would take longer than the universe has existed.
        let text = String(repeating: "a", count: 100_000)
        let groups = try self.groups("(a*)*(a*)*", text)
        #expect(groups[0] == text)
    }
}
