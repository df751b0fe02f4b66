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
