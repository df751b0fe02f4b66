import Foundation
import Testing

@testable import TapeCore

/// Patterns made by chance mean what they mean to Foundation's regular expressions, but for the longest of `|`.
@Suite struct FoundationPatternTests {
    /// The leftmost match and the longest from there, found by asking for every end.
    private func wanted(_ pattern: String, in input: String, from: Int) throws -> Range<Int>? {
        let text = input as NSString
        let expressions = try (0...text.length).map { rest in
            try NSRegularExpression(pattern: "(?:\(pattern))(?=[\\s\\S]{\(rest)}\\z)", options: .useUnixLineSeparators)
        }
        var start = String(decoding: Array(input.utf8)[..<from], as: UTF8.self).utf16.count
        while start <= text.length {
            for rest in 0...text.length - start {
                let range = NSRange(location: start, length: text.length - start)
                let options: NSRegularExpression.MatchingOptions = [.anchored, .withTransparentBounds, .withoutAnchoringBounds]
                guard let found = expressions[rest].firstMatch(in: input, options: options, range: range) else { continue }
                let octets = { (units: Int) in text.substring(to: units).utf8.count }
                return octets(found.range.location)..<octets(found.range.upperBound)
            }
            start += start < text.length ? text.rangeOfComposedCharacterSequence(at: start).length : 1
        }
        return nil
    }

    @Test(arguments: 0..<8)
    func chanceFindsNoDifference(part: Int) throws {
        var generator = SeededGenerator(seed: UInt64(1_000 + part))
        var (compared, found) = (0, 0)
        for _ in 0..<150 {
            let random = RandomPattern(using: &generator)
            let pattern = try Pattern(random.ours)
            let whole = try NSRegularExpression(pattern: "\\A(?:\(random.theirs))\\z", options: .useUnixLineSeparators)
            for _ in 0..<6 {
                let input = RandomPattern.input(using: &generator)
                let all = NSRange(location: 0, length: (input as NSString).length)
                let isWhole = whole.firstMatch(in: input, range: all) != nil
                #expect(pattern.matches(input) == isWhole, "\(random.ours) on \(input.debugDescription)")
                let places = input.unicodeScalars.indices.map { input.utf8.distance(from: input.startIndex, to: $0) } + [input.utf8.count]
                let from = places.randomElement(using: &generator) ?? 0
                let range = Array(input.utf8).withUnsafeBytes { pattern.firstRange(in: $0, from: from) }
                let wanted = try self.wanted(random.theirs, in: input, from: from)
                #expect(range == wanted, "\(random.ours) on \(input.debugDescription) from \(from)")
                compared += 1
                found += (range?.count ?? 0) > 0 ? 1 : 0
            }
        }
        #expect(compared == 900)
        #expect(found > 100)
    }
}
