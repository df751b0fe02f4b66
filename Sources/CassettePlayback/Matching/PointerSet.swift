internal import TapeBytes

/// The paths of a `PointerSet` that match a value so far.
struct PointerReach: Sendable {
    /// Plain pointers by their number. How far they match is the depth of the value.
    fileprivate var plain: UInt64 = 0
    /// The states of all other paths.
    fileprivate var states = StateSet()

    static let none = PointerReach()

    var isEmpty: Bool { self.plain == 0 && self.states.isEmpty }

    mutating func formUnion(_ other: PointerReach) {
        self.plain |= other.plain
        self.states.formUnion(other.states)
    }
}

/// A set of small numbers.
private struct StateSet: Sendable {
    static let limit = 256

    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    var isEmpty: Bool { self.words.0 | self.words.1 | self.words.2 | self.words.3 == 0 }

    mutating func insert(_ state: Int) {
        let bit: UInt64 = 1 << UInt64(state & 63)
        switch state >> 6 {
        case 0: self.words.0 |= bit
        case 1: self.words.1 |= bit
        case 2: self.words.2 |= bit
        default: self.words.3 |= bit
        }
    }

    mutating func formUnion(_ other: StateSet) {
        self.words.0 |= other.words.0
        self.words.1 |= other.words.1
        self.words.2 |= other.words.2
        self.words.3 |= other.words.3
    }

    func forEach(_ body: (Int) -> Void) {
        for (index, word) in [self.words.0, self.words.1, self.words.2, self.words.3].enumerated() {
            var rest = word
            while rest != 0 {
                body(index << 6 | rest.trailingZeroBitCount)
                rest &= rest - 1
            }
        }
    }
}

/// The paths of the rules of one kind, followed together while JSON, XML or a message is read.
///
/// A plain pointer is one bit, since it can match only at one depth. All other paths are a nondeterministic automaton with a state before
/// each segment, so each name costs at most one step for each state, however deep the value is.
struct PointerSet: Sendable {
    /// The number of bits in a word.
    static let limit = 64
    /// The most segments of all paths that are not plain, with one more for the end of each.
    static let stateLimit = StateSet.limit
    /// The most conditions `[name=value]`: one bit each.
    static let conditionLimit = 64

    /// What the rules say about one value.
    enum Verdict {
        case compared
        case ignored
        case ruled(ValueRules)

        /// Nil if the value is compared as it is, or not at all.
        var rules: ValueRules? { if case .ruled(let rules) = self { rules } else { nil } }
    }

    private struct Entry: Sendable {
        /// Of a plain pointer, otherwise empty.
        var segments: [PlacePath.Segment]
        /// Nil if the value is ignored.
        var rules: ValueRules?
        var isGeneral: Bool
    }

    private struct State: Sendable {
        /// Nil at the end of a path.
        var segment: PlacePath.Segment?
        var entry: Int
    }

    /// Plain pointers first.
    private var entries: [Entry] = []
    private var plainCount = 0
    private var states: [State] = []
    private var start = StateSet()
    let conditions: [PlacePath.Condition]

    /// - Parameter pointer: the pointer of a place of this kind; nil for all other places.
    init(_ rules: PlaceRules, of pointer: (MatchPlace) -> PlacePointer?) {
        var all: [(path: PlacePath, rules: ValueRules?)] = rules.ignored.compactMap { pointer($0).map { ($0.path, nil) } }
        for replacement in rules.replacements {
            if let pointer = pointer(replacement.place) { all.append((pointer.path, ValueRules(replacements: [replacement]))) }
        }
        for (number, pattern) in NumberedPattern.all(rules.patterns) {
            if let pointer = pointer(pattern.place) { all.append((pointer.path, ValueRules(patterns: [number]))) }
        }
        all += rules.sorted.compactMap { pointer($0).map { ($0.path, ValueRules(isSorted: true)) } }
        all += rules.optional.compactMap { pointer($0).map { ($0.path, ValueRules(isOptional: true)) } }
        let plain = all.filter { $0.path.isPlain }
        let other = all.filter { !$0.path.isPlain }
        precondition(plain.count <= Self.limit, "MatchRules keeps to the limit")
        self.entries = plain.map { Entry(segments: $0.path.segments, rules: $0.rules, isGeneral: $0.path.segments.contains(.any)) }
        self.plainCount = plain.count
        var conditions: [PlacePath.Condition] = []
        for (path, rules) in other {
            let entry = self.entries.count
            self.entries.append(Entry(segments: [], rules: rules, isGeneral: true))
            let first = self.states.count
            for segment in path.segments {
                self.states.append(State(segment: segment, entry: entry))
                if case .element(let member, let value) = segment {
                    let condition = PlacePath.Condition(member: member, value: value)
                    if !conditions.contains(condition) { conditions.append(condition) }
                }
            }
            self.states.append(State(segment: nil, entry: entry))
            precondition(self.states.count <= Self.stateLimit, "MatchRules keeps to the limit")
            Self.enter(first, self.states, &self.start)
        }
        self.conditions = conditions
    }

    /// Adds a state, and those behind it that need no name.
    private static func enter(_ state: Int, _ states: [State], _ set: inout StateSet) {
        var state = state
        set.insert(state)
        while states[state].segment == .deep {
            state += 1
            set.insert(state)
        }
    }

    /// All paths, at the root.
    var all: PointerReach {
        var reach = PointerReach()
        reach.plain = self.plainCount == Self.limit ? .max : (1 << UInt64(self.plainCount)) - 1
        reach.states = self.start
        return reach
    }

    /// The name of a member or element, and what else paths may ask about it.
    struct Step {
        var name: UnsafeRawBufferPointer
        /// Whether it is a member of an object.
        var isMember = false
        /// Whether a segment `*` matches.
        var takesAny = true
        /// The conditions that the element meets, by their numbers.
        var conditions: UInt64 = 0
    }

    /// The paths of `reach`, which match a value at `depth`, that also match its member or element.
    func descend(_ reach: PointerReach, depth: Int, name: UnsafeRawBufferPointer, takesAny: Bool = true) -> PointerReach {
        self.descend(reach, depth: depth, Step(name: name, takesAny: takesAny))
    }

    func descend(_ reach: PointerReach, depth: Int, _ step: Step) -> PointerReach {
        var found = PointerReach()
        found.plain = self.filter(reach.plain) { entry in
            guard depth < entry.segments.count else { return false }
            switch entry.segments[depth] {
            case .any: return step.takesAny
            case .name(let expected): return expected.count == step.name.count && expected.elementsEqual(step.name)
            case .deep, .member, .element, .content: return false
            }
        }
        guard !reach.states.isEmpty else { return found }
        reach.states.forEach { state in
            switch self.states[state].segment {
            case .deep?: if step.takesAny { Self.enter(state, self.states, &found.states) }
            case let segment? where self.matches(segment, step): Self.enter(state + 1, self.states, &found.states)
            case _: break
            }
        }
        return found
    }

    /// The paths at a whole value that meets conditions, for which `[name=value]` stands as well.
    func whole(_ reach: PointerReach, conditions: UInt64) -> PointerReach {
        guard conditions != 0, !reach.states.isEmpty else { return reach }
        var found = reach
        let step = Step(name: UnsafeRawBufferPointer(start: nil, count: 0), conditions: conditions)
        reach.states.forEach { state in
            guard let segment = self.states[state].segment, case .element = segment, self.matches(segment, step) else { return }
            Self.enter(state + 1, self.states, &found.states)
        }
        return found
    }

    private func matches(_ segment: PlacePath.Segment, _ step: Step) -> Bool {
        switch segment {
        case .any: step.takesAny
        case .name(let expected): expected.count == step.name.count && expected.elementsEqual(step.name)
        case .member(let pattern): step.isMember && pattern.firstRange(in: step.name) != nil
        case .element(let member, let value):
            !step.isMember
                && self.conditions.firstIndex(of: PlacePath.Condition(member: member, value: value)).map {
                    step.conditions & (1 << UInt64($0)) != 0
                }
                    ?? false
        case .deep, .content: false
        }
    }

    /// The paths that go on in the content of a string, by the way to read it.
    func contents(_ reach: PointerReach) -> [(content: PlacePath.Content, reach: PointerReach)] {
        guard !reach.states.isEmpty else { return [] }
        var found: [(content: PlacePath.Content, reach: PointerReach)] = []
        reach.states.forEach { state in
            guard case .content(let content)? = self.states[state].segment else { return }
            let index = found.firstIndex { $0.content == content } ?? found.count
            if index == found.count { found.append((content, .none)) }
            Self.enter(state + 1, self.states, &found[index].reach.states)
        }
        let order = PlacePath.Content.allCases
        return found.sorted { order.firstIndex(of: $0.content) ?? 0 < order.firstIndex(of: $1.content) ?? 0 }
    }

    /// The verdict of the paths of `reach` that end at `depth`.
    func verdict(_ reach: PointerReach, depth: Int) -> Verdict {
        guard !reach.isEmpty else { return .compared }
        var rules = ValueRules()
        var isIgnored = false
        func take(_ entry: Entry) {
            if let own = entry.rules { rules.add(own) } else { isIgnored = true }
        }
        var rest = reach.plain
        while rest != 0 {
            let entry = self.entries[rest.trailingZeroBitCount]
            rest &= rest - 1
            if entry.segments.count == depth { take(entry) }
        }
        if !reach.states.isEmpty {
            reach.states.forEach { if self.states[$0].segment == nil { take(self.entries[self.states[$0].entry]) } }
        }
        return isIgnored ? .ignored : rules.isEmpty ? .compared : .ruled(rules)
    }

    /// Whether one of the paths of `reach` that end at `depth` covers more than one place.
    func containsAny(_ reach: PointerReach, depth: Int) -> Bool {
        if self.filter(reach.plain, { $0.segments.count == depth && $0.isGeneral }) != 0 { return true }
        var isGeneral = false
        reach.states.forEach { if self.states[$0].segment == nil { isGeneral = true } }
        return isGeneral
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
