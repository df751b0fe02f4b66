internal import Platform

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

/// What one pattern is matched with: its program, and automata for whoever comes next.
///
/// Threads that match at the same time have an automaton each.
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

    func firstRange(in bytes: UnsafeRawBufferPointer, from: Int) -> Range<Int>? {
        var automaton = self.searching.withLock { $0.popLast() } ?? PatternAutomaton(self.program, isAnchored: false)
        let earliest = automaton.earliestStart(in: bytes, from: from)
        Self.giveBack(automaton, to: self.searching)
        guard let earliest else { return nil }
        var search = PatternSearch(self.program)
        return search.firstRange(in: bytes, from: earliest, before: PatternAlphabet.neighbour(in: bytes, before: earliest))
    }

    private static func giveBack(_ automaton: PatternAutomaton, to pool: Guarded<[PatternAutomaton]>) {
        pool.withLock { if $0.count < PatternLimits.keptAutomata { $0.append(automaton) } }
    }
}

/// A value behind a mutex.
///
/// Not recursive and not fair: what runs under the lock is short, does not block and does not call out.
// SAFETY: `value` is touched only between lock and unlock, and the mutex never moves: it lies in memory of its own until deinit.
package final class Guarded<Value: Sendable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    package init(_ value: Value) {
        self.value = value
        self.mutex = .allocate(capacity: 1)
        self.mutex.initialize(to: pthread_mutex_t())
        // Fails only for want of memory or with attributes, of which there are none.
        let status = pthread_mutex_init(self.mutex, nil)
        precondition(status == 0, "the system has no memory for a mutex")
    }

    deinit {
        pthread_mutex_destroy(self.mutex)
        self.mutex.deinitialize(count: 1)
        self.mutex.deallocate()
    }

    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(self.mutex)
        defer { pthread_mutex_unlock(self.mutex) }
        return try body(&self.value)
    }
}

/// Finds the leftmost of the longest matches by following all that are under way at once, each with its start.
///
/// Slower than an automaton, so it is given only the place where one has found that there is something.
struct PatternSearch {
    private typealias Thread = (instruction: Int, start: Int)

    private let program: PatternProgram
    private var closure: PatternClosure

    init(_ program: PatternProgram) {
        self.program = program
        self.closure = PatternClosure(program)
    }

    mutating func firstRange(in bytes: UnsafeRawBufferPointer, from: Int, before: PatternEdge.Neighbour) -> Range<Int>? {
        // Ascending by start, as each step keeps their order and the newest comes last: whoever reaches an instruction first began first.
        var threads: [Thread] = []
        var best: Range<Int>?
        var (index, before) = (from, before)
        while true {
            let isEnd = index == bytes.count
            let (character, length) = isEnd ? (0, 0) : self.program.alphabet.character(in: bytes, at: index)
            let after = isEnd ? PatternEdge.Neighbour.nothing : self.program.alphabet.neighbour(character)
            if best == nil { threads.append((0, index)) }
            var next: [Thread] = []
            self.closure.begin()
            for thread in threads {
                if let best, thread.start > best.lowerBound { break }
                let alphabet = self.program.alphabet
                let found = self.closure.follow(thread.instruction, before: before, after: after) { set, target in
                    if !isEnd, alphabet.has(character, in: set) { next.append((target, thread.start)) }
                }
                if found { best = thread.start..<index }
            }
            if let best { next.removeAll { $0.start > best.lowerBound } }
            if isEnd || (best != nil && next.isEmpty) { return best }
            threads = next
            before = after
            index += length
        }
    }
}
