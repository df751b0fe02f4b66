/// A pattern as a tree.
indirect enum PatternNode: Sendable, Hashable {
    case empty
    case characters(PatternCharacters)
    case edge(PatternEdge)
    case sequence([PatternNode])
    case choice([PatternNode])
    /// `most` is nil if there is no upper bound.
    case repeated(PatternNode, least: Int, most: Int?)
    /// A numbered group whose place is asked for; only in a `CapturingPattern`.
    case group(Int, PatternNode)

    /// The number of instructions it compiles to.
    var cost: Int {
        switch self {
        case .empty: 0
        case .characters, .edge: 1
        case .sequence(let nodes): nodes.reduce(0) { $0 + $1.cost }
        case .choice(let nodes): nodes.reduce(0) { $0 + $1.cost } + 2 * (nodes.count - 1)
        case .group(_, let node): node.cost + 2
        case .repeated(let node, let least, nil): least == 0 ? node.cost + 2 : least * node.cost + 1
        case .repeated(let node, let least, let most?): most * node.cost + (most - least)
        }
    }
}

/// A position between characters that a pattern can require.
enum PatternEdge: Sendable, Hashable {
    case start, end, wordEdge, noWordEdge

    /// What is on one side of a position.
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

/// A set of characters, as ranges of Unicode scalars.
///
/// A byte that is not UTF-8 counts as one character beyond all scalars, which only `.` and inverted classes contain.
struct PatternCharacters: Sendable, Hashable {
    /// Stands for every byte that is not UTF-8; one past the last scalar.
    static let notUTF8: UInt32 = 0x11_0000

    static let digits = Self(["0"..."9"])
    /// `\w`: ASCII only, so that a pattern means the same under every version of Unicode.
    static let word = Self(["0"..."9", "A"..."Z", "_"..."_", "a"..."z"])
    static let space = Self(["\t"..."\r", " "..." "])
    static let lineFeed = Self(["\n"..."\n"])

    /// Ascending, without overlap, and with a gap between any two.
    private(set) var ranges: [ClosedRange<UInt32>] = []

    init(_ ranges: [ClosedRange<Unicode.Scalar>] = []) {
        for range in ranges { self.insert(range.lowerBound.value...range.upperBound.value) }
    }

    func contains(_ value: UInt32) -> Bool {
        var (low, high) = (0, self.ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if self.ranges[middle].upperBound < value { low = middle + 1 } else { high = middle }
        }
        return low < self.ranges.count && self.ranges[low].contains(value)
    }

    /// The only character in the set; nil if it has several or none.
    var only: UInt32? {
        guard self.ranges.count == 1, self.ranges[0].lowerBound == self.ranges[0].upperBound else { return nil }
        return self.ranges[0].lowerBound
    }

    mutating func insert(_ range: ClosedRange<UInt32>) {
        let first = self.ranges.firstIndex { $0.upperBound &+ 1 >= range.lowerBound } ?? self.ranges.count
        var (end, merged) = (first, range)
        while end < self.ranges.count, self.ranges[end].lowerBound <= range.upperBound &+ 1 {
            merged = min(merged.lowerBound, self.ranges[end].lowerBound)...max(merged.upperBound, self.ranges[end].upperBound)
            end += 1
        }
        self.ranges.replaceSubrange(first..<end, with: [merged])
    }

    mutating func formUnion(_ other: Self) {
        for range in other.ranges { self.insert(range) }
    }

    var inverted: Self {
        var result = Self()
        var next: UInt32 = 0
        for range in self.ranges {
            if range.lowerBound > next { result.insert(next...range.lowerBound - 1) }
            next = range.upperBound + 1
        }
        if next <= Self.notUTF8 { result.insert(next...Self.notUTF8) }
        return result
    }

    /// The set with the other case of each ASCII letter added.
    var withoutCase: Self {
        var result = self
        for (letters, other) in [(UInt32(65)...90, UInt32(97)), (97...122, 65)] {
            for range in self.ranges where range.overlaps(letters) {
                let common = range.clamped(to: letters)
                let shift = { (value: UInt32) in value - letters.lowerBound + other }
                result.insert(shift(common.lowerBound)...shift(common.upperBound))
            }
        }
        return result
    }
}
