import Foundation
@testable import TapeBytes
import Testing

@Suite struct PatternTests {
    private struct Row: Sendable, CustomTestStringConvertible {
        var pattern: String
        var matching: [String]
        var others: [String]
        var testDescription: String { self.pattern }

        init(_ pattern: String, _ matching: [String], not others: [String]) {
            self.pattern = pattern
            self.matching = matching
            self.others = others
        }
    }

    private static let table = [
        Row("", [""], not: ["a"]),
        Row("abc", ["abc"], not: ["", "ab", "abcd", "xabc", "ABC"]),
        Row("[0-9]+", ["0", "1700000000"], not: ["", "1a", "-1", "\u{661}"]),
        Row(#"\d{4}-\d\d-\d\dT.*Z"#, ["2026-11-21T23:50:00Z"], not: ["2026-11-21 23:50", "2026-11-21T\nZ"]),
        Row("(?i)bearer .+", ["Bearer x", "BEARER y"], not: ["Bearer ", "bear x"]),
        Row("a|bc|", ["a", "bc", ""], not: ["b", "c", "abc"]),
        Row("(ab|cd)*e?", ["", "abcdab", "e", "cde"], not: ["a", "ee", "abc"]),
        Row("a{2}b{1,}c{0,2}", ["aab", "aabbbcc"], not: ["ab", "aaab", "aa", "aabccc"]),
        Row("a{0}", [""], not: ["a"]),
        Row("a{0,0}b", ["b"], not: ["ab"]),
        Row("[^&=]*", ["", "abc", "é", "\n"], not: ["a&b", "="]),
        Row(#"[\w.-]+@[\w-]+"#, ["a.b-c@d"], not: ["@d", "é@d"]),
        Row(#"[\]a]"#, ["]", "a"], not: ["[", ""]),
        Row("[a-]", ["a", "-"], not: ["b"]),
        Row("[-a]", ["a", "-"], not: ["b"]),
        Row("a]}", ["a]}"], not: ["a"]),
        Row(#"\{\{[a-z]+:\d+\}\}"#, ["{{cookie:1}}"], not: ["{{:1}}"]),
        Row(#"\x41\u00e9\x{1D11E}\u{41}"#, ["Aé𝄞A"], not: ["A"]),
        Row(#"\r\n\t\f\v"#, ["\r\n\t\u{C}\u{B}"], not: ["rntfv"]),
        Row("^a$", ["a"], not: ["a\n", "\na"]),
        Row("a^b|a$b", [], not: ["ab"]),
        Row(#"\ba\b.\bb"#, ["a-b"], not: ["aab", "a_b"]),
        Row(#"a\Bb"#, ["ab"], not: ["a-b"]),
        Row("(?s).", ["\n", "é", "𝄞"], not: ["", "ab"]),
        Row("(?is)A.", ["a\n", "AB"], not: ["a"]),
        Row(".", ["é", "𝄞", "\r"], not: ["\n", "e\u{301}"]),
        Row("[à-ü]", ["é"], not: ["e", "É"]),
        Row("(?i)É", ["É"], not: ["é"]),
        Row(#"\S\D\W"#, ["aa-", "é\u{661}é"], not: [" a-", "a1-", "aaa"]),
        Row("(a*)*", ["", "aaa"], not: ["b"]),
        Row("((a|b*)+c?)*", ["", "abbc", "cc"], not: ["d"]),
        Row(#"(\b|^|)*x"#, ["x"], not: [""]),
    ]

    @Test(arguments: Self.table)
    private func theWholeIsCompared(row: Row) throws {
        let pattern = try Pattern(row.pattern)
        #expect(row.matching.filter { !pattern.matches($0) } == [])
        #expect(row.others.filter { pattern.matches($0) } == [])
        #expect(pattern.description == row.pattern)
    }

    @Test(
        arguments: [
            ("a+", "xxaaay", 0, 2..<5), ("a+", "xxaaay", 3, 3..<5), ("a+", "xxaaay", 5, nil), ("a*", "xaa", 0, 0..<0),
            ("a*", "xaa", 1, 1..<3),
            ("a|ab|abc", "xabcd", 0, 1..<4), ("bc|abcd|ab", "abcx", 0, 0..<2), ("b|a.*z", "ab..z", 0, 0..<5), ("b|a.*z", "ab..", 0, 1..<2),
            ("^a", "aa", 1, nil), ("a$", "aa", 0, 1..<2), ("$", "aa", 0, 2..<2), (#"\bb"#, "ab b", 1, 3..<4), (#"\B"#, "ab", 0, 1..<1),
            (".*c", "abcab", 0, 0..<3), ("é", "xéy", 0, 1..<3), ("", "", 0, 0..<0), ("a", "", 0, nil), ("a", "a", 2, nil),
            ("a", "a", -5, 0..<1),
            ("x*", "é", 0, 0..<0), ("(?i)token=[^&]*", "a=1&Token=x%20y&b", 0, 4..<15),
        ] as [(String, String, Int, Range<Int>?)])
    func theLongestOfTheLeftmostIsFound(text: String, input: String, from: Int, wanted: Range<Int>?) throws {
        let pattern = try Pattern(text)
        #expect(Array(input.utf8).withUnsafeBytes { pattern.firstRange(in: $0, from: from) } == wanted)
    }

    @Test func allMatchesAreFoundOnceEach() throws {
        let ranges = { (text: String, input: String) in
            let pattern = try Pattern(text)
            return Array(input.utf8).withUnsafeBytes { pattern.ranges(in: $0) }
        }
        #expect(try ranges("[0-9]+", "a1b22c333") == [1..<2, 3..<5, 6..<9])
        #expect(try ranges("b*", "abba") == [0..<0, 1..<3, 3..<3, 4..<4])
        #expect(try ranges("x", "aaa") == [])
    }

    @Test func bytesThatAreNoTextAreMatchedByWhatIsOpen() throws {
        let bytes: [UInt8] = [0x61, 0xFF, 0xC3, 0x62]
        let matches = { (text: String) in
            let pattern = try Pattern(text)
            return bytes.withUnsafeBytes { pattern.matches($0) }
        }
        #expect(try matches("a..b"))
        #expect(try matches("a[^x]{2}b"))
        #expect(try matches(#"a\W\Sb"#))
        #expect(try !matches("a.b"))
        #expect(try !matches("a[a-\\x{10FFFF}]*b"))
    }

    @Test func patternsOfTheSameTextAreEqual() throws {
        #expect(try Set([Pattern("a"), Pattern("a"), Pattern("b")]).count == 2)
    }
}

@Suite struct PatternErrorTests {
    @Test func itSaysWhatItsMessageSays() {
        let error = PatternError(offset: 3, message: "pattern \"abc(\" at character 4 has no end: add one")
        #expect("\(error)" == error.message)
    }
}

@Suite struct PatternMachineTests {
    @Test func threadsMatchAtTheSameTime() throws {
        let machine = PatternMachine(PatternProgram(try PatternParser.parse("(a|b)*abb")))
        let wrong = Guarded(0)
        DispatchQueue.concurrentPerform(iterations: 64) { iteration in
            let input = Array((String(repeating: "ab", count: iteration) + (iteration % 2 == 0 ? "abb" : "aba")).utf8)
            let isWhole = input.withUnsafeBytes { machine.matches($0) }
            var read = 0
            let range = input.withUnsafeBytes { machine.firstRange(in: $0, from: 0, read: &read) }
            guard isWhole == (iteration % 2 == 0), range == (isWhole ? 0..<input.count : nil) else { return wrong.withLock { $0 += 1 } }
        }
        #expect(wrong.withLock { $0 } == 0)
    }

    @Test func characterBeforeTheStartCounts() throws {
        let machine = PatternMachine(PatternProgram(try PatternParser.parse(#"\bb"#)))
        let input = Array("ab-b".utf8)
        var read = 0
        #expect(input.withUnsafeBytes { machine.firstRange(in: $0, from: 1, read: &read) } == 3..<4)
        #expect(input.withUnsafeBytes { machine.firstRange(in: $0, from: 4, read: &read) } == nil)
        #expect(read >= 3)
    }
}
