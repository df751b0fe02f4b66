/// A regular expression whose matching takes time linear in the input, for every pattern.
///
/// Patterns come with cassettes, which may come from anywhere, and must not make a replay hang. Constructs that cannot be matched in linear
/// time are rejected: back references and lookaround.
///
/// Supports characters, `.` (not line feeds), `[a-z]` and `[^a-z]`, `\d \w \s \D \W \S` (of ASCII), `( )` and `(?: )`, `|`,
/// `* + ? {m} {m,} {m,n}`, `^` and `$` (start and end of the input, not of lines), `\b \B` (edges of `\w`),
/// `\n \r \t \f \v \xHH \uHHHH \x{H…}`, `\` before anything but a letter or digit, and at the very start `(?i)` (ASCII letters ignore
/// case), `(?s)` (`.` is any character) or `(?is)`.
///
/// Input is UTF-8, one character per scalar. A byte that is not UTF-8 is a character that only `.` and inverted classes match.
public struct Pattern: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    private let machine: PatternMachine

    /// Throws if the text is not a pattern, or costs more than `PatternLimits` allows: 1,000 states, 4,096 bytes.
    public init(_ text: String) throws(PatternError) {
        self.text = text
        self.machine = PatternMachine(PatternProgram(try PatternParser.parse(text)))
    }

    public static func == (one: Self, other: Self) -> Bool { one.text == other.text }

    public func hash(into hasher: inout Hasher) { hasher.combine(self.text) }

    public var description: String { self.text }

    /// Whether all of `bytes` matches.
    public func matches(_ bytes: UnsafeRawBufferPointer) -> Bool { self.machine.matches(bytes) }

    /// Whether all of `text` matches.
    public func matches(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { self.machine.matches(UnsafeRawBufferPointer($0)) }
    }

    /// The leftmost match that starts at `from` or later; of several, the longest (not, as with backtracking, the first branch of `|`).
    ///
    /// `^` and `\b` consider the input before `from`. Nil if there is no match, or `from` is past the end.
    public func firstRange(in bytes: UnsafeRawBufferPointer, from: Int = 0) -> Range<Int>? {
        guard from <= bytes.count else { return nil }
        var read = 0
        return self.machine.firstRange(in: bytes, from: max(0, from), read: &read)
    }

    /// The same, and adds to `read` how many bytes were read to find it: a match may need a look at all that follows.
    package func firstRange(in bytes: UnsafeRawBufferPointer, from: Int, read: inout Int) -> Range<Int>? {
        guard from <= bytes.count else { return nil }
        return self.machine.firstRange(in: bytes, from: max(0, from), read: &read)
    }

    /// All matches from left to right, without overlap; each match takes linear time.
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

/// Why a text is not a pattern, and where.
public struct PatternError: Error, Hashable, Sendable, CustomStringConvertible {
    /// UTF-8 bytes from the start of the pattern to the problem.
    public let offset: Int
    /// What is wrong with which pattern, where, and what to write instead.
    public let message: String

    public var description: String { self.message }
}

/// The most that a pattern may cost. Patterns in a cassette are not trusted.
enum PatternLimits {
    /// Bytes of text. The longest patterns for key shapes in public lists have about 300.
    static let length = 4_096
    /// Instructions: each byte of input costs at most one step per instruction.
    static let states = 1_000
    /// Nested brackets: the parser and the compiler recurse for each.
    static let depth = 100
    /// For `{m,n}`; more would exceed `states`.
    static let repetitions = 1_000
    /// The most cells of an automaton's table (4 bytes each) plus entries of its states (2 bytes each) before it starts over: about 400
    /// KiB. Patterns for dates, numbers and keys need less than a hundredth of that.
    static let cells = 1 << 16
    /// The automata of one pattern that are kept for later calls: one for each thread that is likely to match at the same time.
    static let keptAutomata = 4
}

/// Matches one pattern, with its program and a pool of automata.
///
/// Each thread that matches at the same time takes its own automaton.
final class PatternMachine: Sendable {
    private let program: PatternProgram
    private let anchored = Guarded<[PatternAutomaton]>([])
    private let searching = Guarded<[PatternAutomaton]>([])

    init(_ program: PatternProgram) { self.program = program }

    func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var automaton = self.anchored.withLock { $0.popLast() } ?? PatternAutomaton(self.program, isAnchored: true)
        defer { Self.giveBack(automaton, to: self.anchored) }
        return automaton.matchesAll(bytes)
    }

    func firstRange(in bytes: UnsafeRawBufferPointer, from: Int, read: inout Int) -> Range<Int>? {
        var automaton = self.searching.withLock { $0.popLast() } ?? PatternAutomaton(self.program, isAnchored: false)
        let earliest = automaton.earliestStart(in: bytes, from: from)
        read += max(0, automaton.furthest - from)
        Self.giveBack(automaton, to: self.searching)
        guard let earliest else { return nil }
        var search = PatternSearch(self.program)
        let range = search.firstRange(
            in: bytes, from: earliest, before: PatternAlphabet.neighbour(in: bytes, before: earliest))
        read += max(0, search.furthest - earliest)
        return range
    }

    private static func giveBack(_ automaton: PatternAutomaton, to pool: Guarded<[PatternAutomaton]>) {
        pool.withLock { if $0.count < PatternLimits.keptAutomata { $0.append(automaton) } }
    }
}
