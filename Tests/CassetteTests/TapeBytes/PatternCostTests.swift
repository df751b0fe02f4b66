import TapeTestSupport
import Testing

@testable import TapeBytes

/// Patterns that would take a backtracking matcher longer than the age of the universe.
@Suite struct PatternCostTests {
    @Test(arguments: [
        ("(a*)*b", "a"), ("(a|a)*b", "a"), ("(a|aa)+$c", "a"), ("(.*)*,(.*)*x", "a"), ("(a?){300}a{300}b", "a"), ("([a-z]+)+@", "q"),
        ("(x+x+)+y", "x"),
        ("[ab]*a[ab]{400}c", "ab"), (".*.*.*.*.*=", "a"), ("a*a*a*a*a*a*b", "a"), ("(^|a|\\b)*b", "a"),
    ])
    func aHostilePatternTakesItsTimeOnlyOncePerByte(text: String, letters: String) throws {
        let pattern = try Pattern(text)
        var generator = SeededGenerator(seed: 3)
        let choices = Array(letters.utf8)
        let input = (0..<4_000).map { _ in choices.randomElement(using: &generator) ?? 97 }
        let took = ContinuousClock().measure {
            #expect(!input.withUnsafeBytes { pattern.matches($0) })
            #expect(input.withUnsafeBytes { pattern.firstRange(in: $0) } == nil)
        }
        // The bound catches backtracking, which would never end; it does not measure speed.
        #expect(took < .seconds(60))
    }
}
