internal import CassetteFormat
internal import TapeBytes

/// Collects the values of a binary format as facets, at the pointers they would have in JSON.
///
/// Is independent of the format: `MessagePackFacets` and `CBORFacets` read the bytes. The order of members and the width of numbers are not
/// compared.
struct TreeFacets {
    /// The place of a value in the body and in the pointers of the rules.
    struct Place {
        var path: UInt64
        var pointer: [UInt8]
        var rules: PointerReach
        var depth: Int

        init(path: UInt64, pointer: [UInt8], rules: PointerReach, depth: Int) {
            self.path = path
            self.pointer = pointer
            self.rules = rules
            self.depth = depth
        }

        /// The place of a value that is not compared, within another one.
        init(within outer: Place) {
            self.init(path: FacetHash.root, pointer: [], rules: .none, depth: outer.depth + 1)
        }
    }

    /// The kinds of member names: a string never equals a number.
    enum NameKind: Int { case text, number, other }

    /// Deeper values are not read.
    static let depthLimit = JSONTokenizer.depthLimit

    private let pointers: PointerSet
    private(set) var collector: FacetCollector

    init(_ pointers: PointerSet, _ collector: FacetCollector) {
        self.pointers = pointers
        self.collector = collector
    }

    var root: Place { Place(path: FacetHash.root, pointer: [], rules: self.pointers.all, depth: 0) }

    /// - Parameters:
    ///   - counts: how often each name has occurred in the same map.
    func member(
        _ name: UnsafeRawBufferPointer, _ kind: NameKind, in parent: Place, _ counts: inout [UInt64: Int]
    ) -> Place {
        let own = FacetHash.path(parent.path, name, ordinal: kind.rawValue)
        let ordinal = counts[own, default: 0]
        counts[own] = ordinal + 1
        let path = ordinal == 0 ? own : FacetHash.path(parent.path, name, ordinal: kind.rawValue + 3 * ordinal)
        return self.place(name, path: path, in: parent, isMember: true)
    }

    func element(_ index: Int, in parent: Place) -> Place {
        Array("\(index)".utf8).withUnsafeBytes { self.place($0, path: FacetHash.path(parent.path, $0), in: parent, isMember: false) }
    }

    private func place(_ name: UnsafeRawBufferPointer, path: UInt64, in parent: Place, isMember: Bool) -> Place {
        var pointer = parent.pointer
        // The part that is cut off is only for display; the path distinguishes values.
        if pointer.count < BodyFacets.nameLimit { PlacePath.append(name.prefix(BodyFacets.nameLimit), to: &pointer) }
        let step = PointerSet.Step(name: name, isMember: isMember)
        let rules = parent.rules.isEmpty ? .none : self.pointers.descend(parent.rules, depth: parent.depth, step)
        return Place(path: path, pointer: pointer, rules: rules, depth: parent.depth + 1)
    }

    /// Whether a rule ignores a value and everything in it.
    func isIgnored(_ place: Place) -> Bool {
        if case .ignored = self.pointers.verdict(place.rules, depth: place.depth) { true } else { false }
    }

    mutating func container(_ tag: FacetHash.Tag, _ place: Place, shown: StaticString) {
        let shown = UnsafeRawBufferPointer(UnsafeBufferPointer(start: shown.utf8Start, count: shown.utf8CodeUnitCount))
        self.collector.add(
            FacetHash.value(place.path, tag, UnsafeRawBufferPointer(start: nil, count: 0)), .json, name: place.pointer, value: shown,
            type: Array("container".utf8))
    }

    /// - Parameters:
    ///   - type: the type of the value, with the number of its tag or extension if it has one. Values of different types differ.
    ///   - exact: the value to compare, if it is not the one shown.
    mutating func scalar(_ tag: FacetHash.Tag, _ value: UnsafeRawBufferPointer, type: String, _ place: Place, exact: [UInt8]? = nil) {
        let marked = exact == nil ? MatchMark.replaced(in: value) : nil
        var shown = marked ?? Array(value)
        let type = Array(type.utf8)
        let path = type.withUnsafeBytes { FacetHash.path(place.path, $0) }
        var hash = (exact ?? shown).withUnsafeBytes { FacetHash.value(path, tag, $0) }
        if let rules = self.pointers.verdict(place.rules, depth: place.depth).rules {
            switch shown.withUnsafeBytes({ rules.outcome(for: $0) }) {
            case .asIs: break
            case .rewritten(let rewritten):
                shown = rewritten
                hash = rewritten.withUnsafeBytes { FacetHash.value(path, tag, $0) }
            case .substitute(let substitute): hash = substitute.withUnsafeBytes { FacetHash.value(place.path, .pattern, $0) }
            }
        }
        shown.withUnsafeBytes {
            self.collector.add(hash, .json, name: place.pointer, value: $0, type: type, hasMarks: marked != nil)
        }
    }

    mutating func number(_ digits: String, _ place: Place, type: String = "number") {
        Array(digits.utf8).withUnsafeBytes { self.scalar(.number, $0, type: type, place) }
    }

    /// Adds a float, compared by value; NaNs are compared by their bits.
    mutating func float(_ value: Double, _ place: Place, type: String = "float") {
        let bits = value.bitPattern
        Array("\(value)".utf8).withUnsafeBytes {
            self.scalar(.fixed64, $0, type: type, place, exact: withUnsafeBytes(of: bits) { Array($0) })
        }
    }

    mutating func bytes(_ value: UnsafeRawBufferPointer, _ place: Place, type: String = "bytes") {
        // Bytes that are text may contain placeholders.
        if ReadableText.isReadable(value) { return self.scalar(.bytes, value, type: type, place) }
        let hex = Array(("0x" + Hex.encode(value.prefix(32)) + (value.count > 32 ? "…" : "")).utf8)
        hex.withUnsafeBytes { self.scalar(.bytes, $0, type: type, place, exact: Array(value)) }
    }
}
