/// What a pattern may cost. Cassettes come from elsewhere, and so do the patterns in them.
enum PatternLimits {
    /// Octets. The longest patterns for key shapes in public lists have some 300.
    static let length = 4_096
    /// Instructions: each octet of input costs at most one step per instruction.
    static let states = 1_000
    /// Brackets within brackets: parser and compiler call themselves for each.
    static let depth = 100
    /// Of `{m,n}`; more could not be within `states`.
    static let repetitions = 1_000
    /// Cells of an automaton's table (4 octets each) and entries of its states (2 octets each), before it begins anew: some 400 KiB.
    /// Patterns for dates, numbers and keys need less than a hundredth.
    static let cells = 1 << 16
    /// Automata of one pattern that are kept for the next call: one for each thread that is likely to match at the same time.
    static let keptAutomata = 4
}
