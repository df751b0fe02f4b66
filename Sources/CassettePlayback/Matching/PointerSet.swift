/// The JSON Pointers among the rules, followed together while a JSON text is read: a set of those that fit so far is one word.
struct PointerSet: Sendable {
    /// As many as a word has bits.
    static let limit = 64

    /// What the rules say of one value.
    enum Verdict {
        case compared
        case ignored
        /// Compared by the first of these that match.
        case patterns([NumberedPattern])
    }

    private struct Entry: Sendable {
        var segments: [PlacePointer.Segment]
        /// Nil where the value is ignored.
        var pattern: NumberedPattern?
    }

    private let entries: [Entry]

    init(ignored: [MatchPlace], patterns: [PlacePattern]) {
        var entries: [Entry] = []
        for case .json(let pointer) in ignored { entries.append(Entry(segments: pointer.segments)) }
        for (number, pattern) in NumberedPattern.all(patterns) {
            if case .json(let pointer) = pattern.place { entries.append(Entry(segments: pointer.segments, pattern: number)) }
        }
        precondition(entries.count <= Self.limit, "MatchRules keeps to the limit")
        self.entries = entries
    }

    /// All pointers, at the root.
    var all: UInt64 { self.entries.count == Self.limit ? .max : (1 << UInt64(self.entries.count)) - 1 }

    /// Those of `set`, which fit a value at `depth`, that fit its member or element of that name as well.
    func descend(_ set: UInt64, depth: Int, name: UnsafeRawBufferPointer) -> UInt64 {
        self.filter(set) { entry in
            guard depth < entry.segments.count else { return false }
            switch entry.segments[depth] {
            case .any: return true
            case .name(let expected): return expected.count == name.count && expected.elementsEqual(name)
            }
        }
    }

    /// What those of `set` that end at `depth` say.
    func verdict(_ set: UInt64, depth: Int) -> Verdict {
        guard set != 0 else { return .compared }
        var patterns: [NumberedPattern] = []
        var rest = set
        while rest != 0 {
            let entry = self.entries[rest.trailingZeroBitCount]
            rest &= rest - 1
            guard entry.segments.count == depth else { continue }
            guard let pattern = entry.pattern else { return .ignored }
            patterns.append(pattern)
        }
        return patterns.isEmpty ? .compared : .patterns(patterns)
    }

    private func filter(_ set: UInt64, _ isKept: (Entry) -> Bool) -> UInt64 {
        var kept: UInt64 = 0
        var rest = set
        while rest != 0 {
            let index = rest.trailingZeroBitCount
            rest &= rest - 1
            if isKept(self.entries[index]) { kept |= 1 << UInt64(index) }
        }
        return kept
    }
}
