internal import TapeBytes

/// The rules about places: what is left out, and how the rest is compared.
struct PlaceRules: Sendable {
    var ignored: [MatchPlace] = []
    var patterns: [PlacePattern] = []
    var replacements: [PlaceReplacement] = []
    /// Arrays whose order does not count.
    var sorted: [MatchPlace] = []
    /// Values that may be missing.
    var optional: [MatchPlace] = []

    /// All places that have a rule, each as often as it has one.
    var places: [MatchPlace] {
        self.ignored + self.patterns.map(\.place) + self.replacements.map(\.place) + self.sorted + self.optional
    }

    /// The rules for the content of a part or field; those for other content are left out.
    func inside(_ container: MatchPlace?) -> PlaceRules {
        PlaceRules(
            ignored: self.ignored.compactMap { $0.inside(container) },
            patterns: self.patterns.compactMap { pattern in
                pattern.place.inside(container).map { PlacePattern(place: $0, pattern: pattern.pattern) }
            },
            replacements: self.replacements.compactMap { replacement in
                replacement.place.inside(container).map { PlaceReplacement(place: $0, like: replacement) }
            }, sorted: self.sorted.compactMap { $0.inside(container) }, optional: self.optional.compactMap { $0.inside(container) })
    }

    /// Throws if the paths of one kind are more than a `PointerSet` holds.
    func checkLimits() throws(MatchRuleError) {
        let paths = self.places.map(\.innermost)
        try Self.check(paths.compactMap { if case .json(let pointer) = $0 { pointer.path } else { nil } }, "JSON pointers")
        try Self.check(paths.compactMap { if case .xml(let pointer) = $0 { pointer.path } else { nil } }, "elements of XML")
        try Self.check(paths.compactMap { if case .grpc(let pointer) = $0 { pointer.path } else { nil } }, "fields of gRPC messages")
    }

    private static func check(_ paths: [PlacePath], _ kind: String) throws(MatchRuleError) {
        let plain = paths.count { $0.isPlain }
        guard plain <= PointerSet.limit else {
            throw MatchRuleError(
                .tooMany,
                "there are \(plain) rules for \(kind), but at most \(PointerSet.limit) are allowed; write \"*\" for segments that vary")
        }
        let others = paths.filter { !$0.isPlain }
        let segments = others.reduce(0) { $0 + $1.segments.count + 1 }
        guard segments <= PointerSet.stateLimit else {
            throw MatchRuleError(
                .tooMany,
                "the \(others.count) rules for \(kind) with \"**\", conditions, expressions or strings have \(segments) segments with their ends, but at most \(PointerSet.stateLimit) are allowed; remove some or shorten them"
            )
        }
        let conditions = Set(others.flatMap(\.segments).filter { if case .element = $0 { true } else { false } }).count
        guard conditions <= PointerSet.conditionLimit else {
            throw MatchRuleError(
                .tooMany,
                "the rules for \(kind) have \(conditions) conditions \"[name=value]\", but at most \(PointerSet.conditionLimit) are allowed; remove some"
            )
        }
    }

    /// How the values of named things are compared, by their names.
    ///
    /// - Parameter name: the name in a place of this kind; nil for all other places.
    func named(_ name: (MatchPlace) -> String?) -> NamedRules {
        var rules = NamedRules()
        for place in self.ignored { if let name = name(place) { rules.ignore(name) } }
        for replacement in self.replacements {
            if let name = name(replacement.place) { rules.add(name) { $0.replacements.append(replacement) } }
        }
        for (number, pattern) in NumberedPattern.all(self.patterns) {
            if let name = name(pattern.place) { rules.add(name) { $0.patterns.append(number) } }
        }
        for place in self.optional { if let name = name(place) { rules.add(name) { $0.isOptional = true } } }
        return rules
    }

    /// How the values of a place without a name are compared.
    func only(_ isMeant: (MatchPlace) -> Bool) -> ValueRules {
        ValueRules(
            replacements: self.replacements.filter { isMeant($0.place) },
            patterns: NumberedPattern.all(self.patterns).filter { isMeant($0.1.place) }.map(\.0))
    }
}

/// The rules for things with names, such as query items and form fields. In a name, `[*]` stands for any index in brackets.
struct NamedRules: Sendable {
    private var ignored: Set<[UInt8]> = []
    private var rules: [[UInt8]: ValueRules] = [:]
    /// Names with `[*]`, split there; nil for a name that is ignored.
    private var general: [(pieces: [[UInt8]], rules: ValueRules?)] = []

    var isEmpty: Bool { self.ignored.isEmpty && self.rules.isEmpty && self.general.isEmpty }

    private static let anyIndex = Array("[*]".utf8)

    mutating func ignore(_ name: String) {
        if let pieces = Self.pieces(of: Array(name.utf8)) {
            self.general.append((pieces, nil))
        } else {
            self.ignored.insert(Array(name.utf8))
        }
    }

    mutating func add(_ name: String, _ change: (inout ValueRules) -> Void) {
        guard let pieces = Self.pieces(of: Array(name.utf8)) else { return change(&self.rules[Array(name.utf8), default: ValueRules()]) }
        var rules = ValueRules()
        change(&rules)
        self.general.append((pieces, rules))
    }

    func ignores(_ name: [UInt8]) -> Bool {
        guard !self.isEmpty else { return false }
        return self.ignored.contains(name) || self.general.contains { $0.rules == nil && Self.fits(name, $0.pieces) }
    }

    /// Nil if no rule changes the values of that name.
    subscript(name: [UInt8]) -> ValueRules? {
        guard !self.rules.isEmpty || !self.general.isEmpty else { return nil }
        var found = self.rules[name]
        for general in self.general {
            guard let rules = general.rules, Self.fits(name, general.pieces) else { continue }
            if found == nil { found = rules } else { found?.add(rules) }
        }
        return found
    }

    private static func pieces(of name: [UInt8]) -> [[UInt8]]? {
        var pieces: [[UInt8]] = [[]]
        var rest = name[...]
        while let byte = rest.first {
            if rest.starts(with: self.anyIndex) {
                rest = rest.dropFirst(self.anyIndex.count)
                pieces.append([])
            } else {
                pieces[pieces.count - 1].append(byte)
                rest = rest.dropFirst()
            }
        }
        return pieces.count > 1 ? pieces : nil
    }

    /// Whether a name consists of the pieces with an index in brackets between each two. An index contains no bracket.
    private static func fits(_ name: [UInt8], _ pieces: [[UInt8]]) -> Bool {
        guard let first = pieces.first, name.starts(with: first) else { return false }
        var rest = name[first.count...]
        for piece in pieces.dropFirst() {
            guard rest.first == UInt8(ascii: "["), let close = rest.firstIndex(of: UInt8(ascii: "]")),
                !rest[(rest.startIndex + 1)..<close].contains(UInt8(ascii: "["))
            else { return false }
            rest = rest[(close + 1)...]
            guard rest.starts(with: piece) else { return false }
            rest = rest.dropFirst(piece.count)
        }
        return rest.isEmpty
    }
}
