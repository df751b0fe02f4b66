/// A regular expression whose matching takes time linear in the input, whatever the pattern.
///
/// Patterns come with cassettes, from elsewhere, and must not be able to make a replay hang. What has no linear time is refused: back
/// references and lookaround.
///
/// Known are characters, `.` (not line feeds), `[a-z]` and `[^a-z]`, `\d \w \s \D \W \S` (of ASCII), `( )` and `(?: )`, `|`, `* + ? {m} {m,} {m,n}`,
/// `^` and `$` (start and end of the input, not of lines), `\b \B` (edges of `\w`), `\n \r \t \f \v \xHH \uHHHH \x{H…}`, `\` before anything that is
/// no letter or digit, and at the very start `(?i)` (letters of ASCII without case), `(?s)` (`.` is any character) or `(?is)`.
///
/// Input is octets of UTF-8, one character for each scalar. An octet that is none is a character that only `.` and inverted classes match.
public struct Pattern: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    private let machine: PatternMachine

    /// Throws where the text is no pattern, or one that costs more than `PatternLimits` allows: 1,000 states, 4,096 octets.
    public init(_ text: String) throws(PatternError) {
        self.text = text
        self.machine = PatternMachine(PatternProgram(try PatternParser.parse(text)))
    }

    public static func == (one: Self, other: Self) -> Bool { one.text == other.text }

    public func hash(into hasher: inout Hasher) { hasher.combine(self.text) }

    public var description: String { self.text }

    /// Whether the whole of `bytes` matches.
    public func matches(_ bytes: UnsafeRawBufferPointer) -> Bool { self.machine.matches(bytes) }

    /// Whether the whole of `text` matches.
    public func matches(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { self.machine.matches(UnsafeRawBufferPointer($0)) }
    }

    /// The match that starts first at `from` or later, and of those that start there the longest (not, as with backtracking, the first of `|`).
    ///
    /// `^` and `\b` look at what stands before `from`. Nil where there is none, and where `from` is past the end.
    public func firstRange(in bytes: UnsafeRawBufferPointer, from: Int = 0) -> Range<Int>? {
        guard from <= bytes.count else { return nil }
        return self.machine.firstRange(in: bytes, from: max(0, from))
    }

    /// All matches from left to right, none within another; time is linear for each match.
    public func ranges(in bytes: UnsafeRawBufferPointer) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var from = 0
        while let range = self.firstRange(in: bytes, from: from) {
            ranges.append(range)
            from = range.isEmpty ? range.upperBound + 1 : range.upperBound
        }
        return ranges
    }
}
