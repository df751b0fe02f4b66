/// A place between characters that a pattern can ask for.
enum PatternEdge: Sendable, Hashable {
    case start, end, wordEdge, noWordEdge

    /// What stands on one side of a place.
    enum Neighbour: UInt8, Sendable, Hashable {
        /// The start or the end of the input.
        case nothing
        case wordCharacter, otherCharacter
    }

    func isAt(before: Neighbour, after: Neighbour) -> Bool {
        switch self {
        case .start: before == .nothing
        case .end: after == .nothing
        case .wordEdge: (before == .wordCharacter) != (after == .wordCharacter)
        case .noWordEdge: (before == .wordCharacter) == (after == .wordCharacter)
        }
    }
}
