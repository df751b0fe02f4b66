public import TapeBytes

/// A place whose value is compared by a pattern. All values that the pattern matches as a whole are equal.
public struct PlacePattern: Sendable, Hashable {
    public let place: MatchPlace
    public let pattern: Pattern

    /// `PLACE=REGEX`; the first equals sign separates them.
    public init(_ text: String) throws(MatchRuleError) {
        let shown = PlainText.escape(text.utf8, limit: 80)
        guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) else {
            throw MatchRuleError(.badPattern, "\"\(shown)\" has no \"=\"; write PLACE=REGEX, for example \"query:ts=[0-9]+\"")
        }
        let place = try MatchPlace(String(text[..<equals]))
        if case .within = place, case .header = place.innermost {
            throw MatchRuleError(.badPattern, "\"\(place)\" takes no pattern; ignore it, or write one for a value in the body")
        }
        switch place.innermost {
        case .host, .path, .queryItem, .header, .json, .xml, .grpc, .formField, .part, .partFilename, .within: break
        case .method, .scheme, .port, .query, .body:
            throw MatchRuleError(
                .badPattern,
                "\"\(place)\" takes no pattern; write one for \"path\", \"host\", \"query:NAME\", \"header:NAME\", \"json:/POINTER\", \"xml:/a/b\", \"grpc:/FIELD\", \"form:NAME\", \"part:NAME\" or \"filename:NAME\""
            )
        }
        do {
            self.pattern = try Pattern(String(text[text.utf8.index(after: equals)...]))
        } catch {
            throw MatchRuleError(.badPattern, "\"\(shown)\": \(error.message)", cause: error)
        }
        self.place = place
    }

    init(place: MatchPlace, pattern: Pattern) {
        self.place = place
        self.pattern = pattern
    }
}

/// A pattern with its index among the rules; the index represents all values that match.
struct NumberedPattern: Sendable {
    let number: Int
    let pattern: Pattern

    static func all(_ patterns: [PlacePattern]) -> [(NumberedPattern, PlacePattern)] {
        patterns.enumerated().map { (NumberedPattern(number: $0.offset + 1, pattern: $0.element.pattern), $0.element) }
    }

    /// Replaces a matching value in comparisons. Its spelling differs from placeholders and marks.
    var substitute: [UInt8] { Array("{{=\(self.number)}}".utf8) }

    /// The replacement by the first pattern that matches the whole value; nil if none does.
    static func substitute(for value: UnsafeRawBufferPointer, among patterns: [NumberedPattern]) -> [UInt8]? {
        patterns.first { $0.pattern.matches(value) }?.substitute
    }
}

/// The pointers of the rules of one kind, followed together while JSON or a message is read. One word represents the set of pointers that
/// match so far.
struct PointerSet: Sendable {
    /// The number of bits in a word.
    static let limit = 64

    /// What the rules say about one value.
    enum Verdict {
        case compared
        case ignored
        /// Compared by the first of these patterns that matches.
        case patterns([NumberedPattern])
    }

    private struct Entry: Sendable {
        var segments: [PlacePointer.Segment]
        /// Nil if the value is ignored.
        var pattern: NumberedPattern?
    }

    private let entries: [Entry]

    /// - Parameter pointer: the pointer of a place of this kind; nil for all other places.
    init(ignored: [MatchPlace], patterns: [PlacePattern], of pointer: (MatchPlace) -> PlacePointer?) {
        var entries = ignored.compactMap { pointer($0).map { Entry(segments: $0.segments) } }
        for (number, pattern) in NumberedPattern.all(patterns) {
            if let pointer = pointer(pattern.place) { entries.append(Entry(segments: pointer.segments, pattern: number)) }
        }
        precondition(entries.count <= Self.limit, "MatchRules keeps to the limit")
        self.entries = entries
    }

    /// All pointers, at the root.
    var all: UInt64 { self.entries.count == Self.limit ? .max : (1 << UInt64(self.entries.count)) - 1 }

    /// The pointers of `set`, which match a value at `depth`, that also match its member or element of this name.
    ///
    /// - Parameter takesAny: whether a segment `*` matches.
    func descend(_ set: UInt64, depth: Int, name: UnsafeRawBufferPointer, takesAny: Bool = true) -> UInt64 {
        self.filter(set) { entry in
            guard depth < entry.segments.count else { return false }
            switch entry.segments[depth] {
            case .any: return takesAny
            case .name(let expected): return expected.count == name.count && expected.elementsEqual(name)
            }
        }
    }

    /// The verdict of the pointers of `set` that end at `depth`.
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

    /// Whether one of the pointers of `set` that end at `depth` contains a `*`.
    func containsAny(_ set: UInt64, depth: Int) -> Bool {
        self.filter(set) { $0.segments.count == depth && $0.segments.contains(.any) } != 0
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
