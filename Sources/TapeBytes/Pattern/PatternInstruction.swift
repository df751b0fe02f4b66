/// One step of a compiled pattern; what does not name another goes on at the next.
enum PatternInstruction: Sendable, Hashable {
    /// Takes one character out of the set of this number.
    case take(Int)
    case require(PatternEdge)
    /// Goes on at both.
    case split(Int, Int)
    case jump(Int)
    case match
}
