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
        let before = self.neighbour(in: bytes, before: from)
        var automaton = self.searching.withLock { $0.popLast() } ?? PatternAutomaton(self.program, isAnchored: false)
        let earliest = automaton.earliestStart(in: bytes, from: from, before: before)
        Self.giveBack(automaton, to: self.searching)
        guard let earliest else { return nil }
        var search = PatternSearch(self.program)
        return search.firstRange(in: bytes, from: earliest, before: self.neighbour(in: bytes, before: earliest))
    }

    /// Only characters of ASCII are word characters, so one octet says it.
    private func neighbour(in bytes: UnsafeRawBufferPointer, before index: Int) -> PatternEdge.Neighbour {
        guard index > 0 else { return .nothing }
        return PatternCharacters.word.contains(UInt32(bytes[index - 1])) ? .wordCharacter : .otherCharacter
    }

    private static func giveBack(_ automaton: PatternAutomaton, to pool: Guarded<[PatternAutomaton]>) {
        pool.withLock { if $0.count < PatternLimits.keptAutomata { $0.append(automaton) } }
    }
}
