import Foundation
import TapeTestSupport
import Testing

@testable import TapeBytes

/// Random patterns match like Foundation's regular expressions, except that `|` takes the longest alternative.
@Suite struct FoundationPatternTests {
    /// Foundation's expressions for a pattern, one for each number of UTF-16 units that may remain after a match.
    private struct Oracle {
        private let expressions: [NSRegularExpression]

        init(_ pattern: String) throws {
            self.expressions = try (0...2 * RandomPattern.longestInput).map { rest in
                try NSRegularExpression(pattern: "(?:\(pattern))(?=[\\s\\S]{\(rest)}\\z)", options: .useUnixLineSeparators)
            }
        }

        /// The leftmost and longest match, found by trying every end; `starts` are byte offsets.
        func range(in input: String, starts: ArraySlice<Int>) -> Range<Int>? {
            let text = input as NSString
            for start in starts {
                let units = String(decoding: Array(input.utf8)[..<start], as: UTF8.self).utf16.count
                let range = NSRange(location: units, length: text.length - units)
                for rest in 0...text.length - units {
                    let options: NSRegularExpression.MatchingOptions = [.anchored, .withTransparentBounds, .withoutAnchoringBounds]
                    guard let found = self.expressions[rest].firstMatch(in: input, options: options, range: range) else { continue }
                    return start..<text.substring(to: found.range.upperBound).utf8.count
                }
            }
            return nil
        }
    }

    @Test(arguments: 0..<4)
    func chanceFindsNoDifference(part: Int) throws {
        var generator = SeededGenerator(seed: UInt64(1_000 + part))
        var found = 0
        for _ in 0..<60 {
            let random = RandomPattern(using: &generator)
            let pattern = try Pattern(random.ours)
            let oracle = try Oracle(random.theirs)
            for _ in 0..<8 {
                let input = RandomPattern.input(using: &generator)
                let places = input.unicodeScalars.indices.map { input.utf8.distance(from: input.startIndex, to: $0) } + [input.utf8.count]
                let first = Int.random(in: places.indices, using: &generator)
                let wanted = oracle.range(in: input, starts: places[first...])
                let range = Array(input.utf8).withUnsafeBytes { pattern.firstRange(in: $0, from: places[first]) }
                #expect(range == wanted, "\(random.ours) on \(input.debugDescription) from \(places[first])")
                #expect(
                    pattern.matches(input) == (oracle.range(in: input, starts: [0]) == 0..<input.utf8.count),
                    "\(random.ours) on \(input.debugDescription)")
                found += (range?.count ?? 0) > 0 ? 1 : 0
            }
        }
        #expect(found > 30)
    }
}
