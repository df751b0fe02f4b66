@testable import TapeBytes
import TapeTestSupport
import Testing

@Suite struct PatternAutomatonTests {
    private func automaton(_ text: String, isAnchored: Bool, limit: Int = PatternLimits.cells) throws -> PatternAutomaton {
        PatternAutomaton(PatternProgram(try PatternParser.parse(text)), isAnchored: isAnchored, limit: limit)
    }

    @Test(
        arguments: [
            ("b", "aab", 0, 2), ("ab", "aa-ab", 0, 3), ("ab", "aaab", 0, 0), ("a+b", "xaaab", 0, 1), (".*b", "aab", 0, 0),
            ("b", "aaa", 0, nil),
            ("abc|b", "xab", 0, 1), ("b", "bab", 1, 2),
            ("$", "ab", 0, 2), ("", "ab", 1, 1),
        ] as [(String, String, Int, Int?)])
    func theEarliestStartIsAfterAllThatEnded(text: String, input: String, from: Int, wanted: Int?) throws {
        var automaton = try self.automaton(text, isAnchored: false)
        #expect(Array(input.utf8).withUnsafeBytes { automaton.earliestStart(in: $0, from: from) } == wanted)
    }

    @Test func aFullTableIsResetAndGivesTheSame() throws {
        // Requires about 2^9 states.
        let text = "[ab]*a[ab]{8}"
        var roomy = try self.automaton(text, isAnchored: true)
        var tight = try self.automaton(text, isAnchored: true, limit: 200)
        var tightest = try self.automaton(text, isAnchored: true, limit: 1)
        var generator = SeededGenerator(seed: 9)
        var matches = 0
        for _ in 0..<300 {
            let input = (0..<Int.random(in: 0..<60, using: &generator)).map { _ in UInt8.random(in: 97...98, using: &generator) }
            let wanted = input.count >= 9 && input[input.count - 9] == 97
            matches += wanted ? 1 : 0
            input.withUnsafeBytes {
                #expect(roomy.matchesAll($0) == wanted)
                #expect(tight.matchesAll($0) == wanted)
                #expect(tightest.matchesAll($0) == wanted)
            }
        }
        #expect(matches > 50)
        #expect(roomy.timesBegun == 0)
        #expect(tight.timesBegun > 10)
    }
}

@Suite struct PatternBeginningsTests {
    private func beginnings(_ text: String) throws -> PatternBeginnings? {
        PatternBeginnings(PatternProgram(try PatternParser.parse(text)))
    }

    @Test(arguments: [
        ("abc", "xxab", 2), ("a|b", "xxb", 2), ("(?i)a", "xA", 1), (#"\b[0-9]"#, "x1", 1), ("a*b", "xab", 1), ("é", "xé", 1),
        ("^a", "xa", 1), ("a", "xyz", 3), ("a", "", 0),
    ])
    func theSearchGoesOnWhereAMatchCanBegin(text: String, input: String, wanted: Int) throws {
        let beginnings = try #require(try self.beginnings(text))
        #expect(Array(input.utf8).withUnsafeBytes { beginnings.next(in: $0, from: 0) } == wanted)
    }

    @Test(arguments: ["", "a*", ".", "[^a]", "(a|$)", #"\b"#, "a?b?"])
    func nothingIsPassedOverWhereAnythingCanBegin(text: String) throws {
        #expect(try self.beginnings(text) == nil)
    }
}
