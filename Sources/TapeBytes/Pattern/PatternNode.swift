/// A pattern as a tree.
indirect enum PatternNode: Sendable, Hashable {
    case empty
    case characters(PatternCharacters)
    case edge(PatternEdge)
    case sequence([PatternNode])
    case choice([PatternNode])
    /// `most` is nil where there is no upper bound.
    case repeated(PatternNode, least: Int, most: Int?)

    /// How many instructions the compiler makes of it.
    var cost: Int {
        switch self {
        case .empty: 0
        case .characters, .edge: 1
        case .sequence(let nodes): nodes.reduce(0) { $0 + $1.cost }
        case .choice(let nodes): nodes.reduce(0) { $0 + $1.cost } + 2 * (nodes.count - 1)
        case .repeated(let node, let least, nil): least == 0 ? node.cost + 2 : least * node.cost + 1
        case .repeated(let node, let least, let most?): most * node.cost + (most - least)
        }
    }
}
