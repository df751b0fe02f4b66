internal import TapeBytes

/// The facets by which a request body is compared: its kind and the multiset of its facets, as a digest of bounded size.
///
/// `==` tells whether bodies are equal. The facets themselves are kept up to a limit, to explain a difference; the digest covers them all.
public struct BodyFacets: Sendable {
    public enum Kind: String, Sendable, Hashable {
        /// Absent, empty, or not compared.
        case none
        case bytes, text, json, xml, form, multipart, grpc
        /// Several JSON texts in sequence.
        case jsonLines = "json-lines"
        case http
        case messagePack = "messagepack"
        case cbor
        case graphQL = "graphql"
        /// Frames of an AWS event stream.
        case amazonFrames = "amazon-frames"
    }

    /// At most this many facets are kept; a body of 16 MiB has millions.
    public static let facetLimit = 4096
    /// The content of parts within parts, and of fields in these, is compared by its kind to this depth.
    static let nestingLimit = 3
    /// The limit if values are kept whole: a late facet with a mark still has to find its partner.
    public static let wholeFacetLimit = 1 << 16
    /// Bytes kept of a facet's name; pointers and field names are far shorter.
    public static let nameLimit = 512
    /// Bytes kept of a value, unless it is kept whole because of marks.
    public static let valueLimit = 64 << 10
    /// Bytes kept of all names and values of a body.
    public static let keptLimit = 1 << 20
    /// A longer JSON, XML, form or text body is compared byte by byte. Shorter ones are held in memory while they arrive.
    public static let memoryLimit = 16 << 20

    public internal(set) var kind: Kind
    /// In the order of the body, up to a limit.
    public internal(set) var facets: [BodyFacet]
    /// The number of all facets, kept or not.
    public internal(set) var count: Int
    public internal(set) var hasMarks: Bool
    var sum: UInt64
    /// JSON values that rules allow to differ, up to a limit.
    var exempt: [ExemptValue] = []
    /// Whether a rule allows a value to be missing, so that bodies with different facets may be equal.
    var mayLack = false
    /// The sum and number of the facets that no rule allows to be missing.
    var core = FacetSum()
    /// A hash of the order in which the values of repeated fields or parts come; 0 if no name is repeated. It does not count for equality.
    var repeatedItems: UInt64 = 0
    /// The placeholders in the body as sent or recorded. They do not count for equality.
    var placeholders = HeldPlaceholders()

    /// The content of a live body, in a cassette with stubs. It does not count for equality.
    var content: HeldContent?

    /// No body.
    public static let none = BodyFacets(kind: .none, facets: [], count: 0, hasMarks: false, sum: 0)

    /// A body of which nothing was sent or read. It equals no other body, and matches requests that were cut.
    package static let unsent = BodyFacets(kind: .bytes, facets: [], count: 0, hasMarks: false, sum: 0)

    /// Whether an unequal body may match it (`fits`).
    var mayFit: Bool { self.hasMarks || self.mayLack }

    /// The same without the facets: a few dozen bytes, for comparison only.
    public var digestOnly: BodyFacets {
        var facets = self
        facets.facets = []
        facets.exempt = []
        facets.placeholders = HeldPlaceholders()
        facets.content = nil
        return facets
    }

    // MARK: Fitting

    /// Whether a recorded body with marks, or one of which a value may be missing, fits a live one. A mark matches one or more bytes of the
    /// live body.
    ///
    /// Needs the facets themselves: false if a body has more than are kept, or if a value with marks is longer than its kept part.
    public func fits(live: BodyFacets) -> Bool {
        guard self != live else { return true }
        guard self.mayFit, self.kind == live.kind, self.mayLack || self.count == live.count, self.isWhole, live.isWhole else {
            return false
        }
        var unmatched = FacetDifference(live: live.facets, recorded: self.facets)
        if self.mayLack { unmatched = unmatched.withoutOptional(live: live.facets, recorded: self.facets) }
        guard unmatched.live.count == unmatched.recorded.count else { return false }
        guard !unmatched.live.isEmpty else { return true }
        guard self.hasMarks else { return false }
        guard Self.areTold(unmatched.recorded) else { return false }
        var names = MarkedNames()
        for recorded in unmatched.recorded {
            guard recorded.hasMarks, let index = unmatched.live.firstIndex(where: { recorded.fits($0) && names.allow($0, for: recorded) })
            else { return false }
            names.bind(unmatched.live.remove(at: index), to: recorded)
        }
        return true
    }

    /// Whether all parts and fields with structured content have distinct names. If two share a name, marks do not show which value belongs
    /// to which.
    private static func areTold(_ facets: [BodyFacet]) -> Bool {
        var seen: Set<[UInt8]> = []
        return facets.allSatisfy { !$0.isContainer || seen.insert($0.within + [0] + $0.name).inserted }
    }

    /// Whether all facets were kept.
    var isWhole: Bool { self.facets.count == self.count }
}

extension BodyFacets: Hashable {
    public static func == (left: BodyFacets, right: BodyFacets) -> Bool {
        left.sum == right.sum && left.count == right.count && left.kind == right.kind
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.sum)
    }
}

/// One comparable item of a body, and how it is shown.
///
/// Two facets are equal if their hashes are; the other properties explain a difference.
public struct BodyFacet: Sendable, Hashable {
    public enum Place: Sendable, Hashable {
        /// The bytes or characters of the whole body.
        case whole
        /// A JSON Pointer (RFC 6901) to a value.
        case json
        /// An element, an attribute or characters of XML, named by the path of local names.
        case xml
        case formField
        case part
        /// A gRPC message, or a field of one.
        case grpc
        /// A header field of a message in `application/http`.
        case header
        /// The closing delimiter is missing.
        case unclosed
        /// A query item that belongs to a GraphQL request, or to a message in `application/http`.
        case queryItem
    }

    public var place: Place
    /// The pointer, or the name of the field or part. If there are several messages, the pointer is preceded by the number of its message.
    /// Cut to `BodyFacets.nameLimit` bytes.
    public var name: [UInt8]
    /// The value, or its first `BodyFacets.valueLimit` bytes, with marks for placeholders.
    public var value: [UInt8]
    /// The size of the whole value in bytes.
    public var size: Int
    /// Only set for a part.
    public var filename: [UInt8]?
    /// For a part, the media type and its charset, and lines for other fields; for a JSON value, its kind; for XML, its kind and namespaces.
    public var type: [UInt8]
    public var hasMarks: Bool
    /// The part or field that contains it, as `part:meta|`; empty if it is in the body itself.
    package var within: [UInt8] = []
    /// Whether it is a part, a field, or an element of an array in any order, whose content has its own facets. Its hash covers them.
    package var isContainer = false
    /// The values that may be missing in which it is, or which it is, the outermost first.
    var optional: [UInt64] = []
    /// Uses a new seed in each process.
    var hash: UInt64
}

extension BodyFacet {
    /// Whether a recorded facet with marks fits a live one.
    func fits(_ live: BodyFacet) -> Bool {
        guard self.place == live.place, self.within == live.within, self.isContainer == live.isContainer else { return false }
        guard !self.isContainer else {
            return self.type == live.type && Self.fits(self.name, live.name) && Self.fits(self.filename ?? [], live.filename ?? [])
                && (self.filename == nil) == (live.filename == nil)
        }
        guard self.size == self.value.count, live.size == live.value.count else { return false }
        guard self.place == .grpc || self.type == live.type, (self.filename == nil) == (live.filename == nil) else {
            return false
        }
        return Self.fits(self.name, live.name) && Self.fits(self.value, live.value)
            && Self.fits(self.filename ?? [], live.filename ?? [])
    }

    private static func fits(_ recorded: [UInt8], _ live: [UInt8]) -> Bool {
        recorded.withUnsafeBytes { recorded in live.withUnsafeBytes { MatchMark.value(recorded, fits: $0) } }
    }
}

/// Maps the names of JSON members with marks to their live names. All values within such a member must agree on its live name.
private struct MarkedNames {
    /// Live pointers by recorded ones, for each pointer whose last name contains a mark.
    private var live: [[UInt8]: [UInt8]] = [:]
    private var taken: Set<[UInt8]> = []

    func allow(_ live: BodyFacet, for recorded: BodyFacet) -> Bool {
        guard recorded.name != live.name else { return true }
        let (names, recordedNames) = (Self.names(live), Self.names(recorded))
        guard names.count == recordedNames.count else { return false }
        return zip(names, recordedNames).allSatisfy { name, recorded in
            guard name != recorded else { return true }
            return self.live[recorded].map { $0 == name } ?? !self.taken.contains(name)
        }
    }

    mutating func bind(_ live: BodyFacet, to recorded: BodyFacet) {
        guard recorded.name != live.name else { return }
        for (name, recorded) in zip(Self.names(live), Self.names(recorded)) where name != recorded {
            self.live[recorded] = name
            self.taken.insert(name)
        }
    }

    /// The pointers to a value and to all its containers; for facets other than JSON, only the name.
    private static func names(_ facet: BodyFacet) -> [[UInt8]] {
        guard facet.place == .json else { return [facet.name] }
        let ends = facet.name.indices.dropFirst().filter { facet.name[$0] == UInt8(ascii: "/") } + [facet.name.count]
        return ends.map { facet.within + [0] + facet.name[..<$0] }
    }
}

/// Collects facets. The digest covers all of them; the first ones are kept for display.
struct FacetCollector {
    private(set) var facets: [BodyFacet] = []
    private(set) var count = 0
    private(set) var hasMarks = false
    private var sum: UInt64 = 0
    /// Of the facets that may be missing.
    private var optional = FacetSum()
    var exempt: [ExemptValue] = []
    /// How often each name of a field or part has come, and what repetitions add up to.
    private var occurrences: [UInt64: UInt64] = [:]
    private var repeatedItems: UInt64 = 0
    private let keepsWholeValues: Bool
    private var room: Int
    /// The place of a part or field, if these are the facets of its content.
    private var container: (path: UInt64, name: [UInt8])?

    /// - Parameter keepsWholeValues: keeps values up to the size of the largest body that is parsed, for the marks in them.
    init(keepsWholeValues: Bool = false) {
        self.keepsWholeValues = keepsWholeValues
        self.room = keepsWholeValues ? 2 * BodyFacets.memoryLimit : BodyFacets.keptLimit
    }

    /// An empty collector with the same limits.
    var empty: FacetCollector {
        var collector = FacetCollector(keepsWholeValues: self.keepsWholeValues)
        collector.container = self.container
        return collector
    }

    /// An empty collector for the content of a part or field. Its facets equal only facets of the same place.
    ///
    /// - Parameter name: as in a rule, with a bar: `part:meta|`.
    func within(_ path: UInt64, _ name: [UInt8]) -> FacetCollector {
        var collector = self.empty
        collector.container = (self.salted(path), (self.container?.name ?? []) + name)
        return collector
    }

    private func salted(_ hash: UInt64) -> UInt64 {
        guard let container = self.container else { return hash }
        return withUnsafeBytes(of: hash) { FacetHash.path(container.path, $0) }
    }

    /// A digest that is equal for equal contents of the same place.
    var digest: [UInt8] { withUnsafeBytes(of: (self.sum, self.count)) { Array($0) } }

    /// Whether one more facet would be kept.
    var isKeeping: Bool {
        self.room > 0 && self.facets.count < (self.keepsWholeValues ? BodyFacets.wholeFacetLimit : BodyFacets.facetLimit)
    }

    /// `size` is the size of the whole value if `value` is only its beginning.
    mutating func add(
        _ hash: UInt64, _ place: BodyFacet.Place, name: some Collection<UInt8>, value: UnsafeRawBufferPointer, size: Int? = nil,
        filename: [UInt8]? = nil, type: [UInt8] = [], hasMarks: Bool = false, isContainer: Bool = false, optional: [UInt64] = []
    ) {
        let hash = self.salted(hash)
        let within = self.container?.name ?? []
        self.count += 1
        if !optional.isEmpty { self.optional.add(FacetSum(sum: hash, count: 1)) }
        // A sum does not depend on the order. A sender cannot construct a given sum, since the hashes are secret.
        self.sum &+= hash
        if hasMarks { self.hasMarks = true }
        if place == .formField || place == .part { self.count(Array(name), hash) }
        guard self.isKeeping else { return }
        let name = Array(name.prefix(BodyFacets.nameLimit))
        let whole = size ?? value.count
        let value = Array(value.prefix(min(self.keepsWholeValues ? BodyFacets.memoryLimit : BodyFacets.valueLimit, self.room)))
        self.room -= name.count + value.count + (filename?.count ?? 0) + type.count + within.count
        self.facets.append(
            BodyFacet(
                place: place, name: name, value: value, size: whole, filename: filename, type: type, hasMarks: hasMarks,
                within: within, isContainer: isContainer, optional: optional, hash: hash))
    }

    /// Makes the first value of a name count differently from the second, and so on.
    private mutating func count(_ name: [UInt8], _ hash: UInt64) {
        guard self.occurrences.count < BodyFacets.facetLimit else { return }
        let path = name.withUnsafeBytes { FacetHash.path(self.container?.path ?? FacetHash.root, $0) }
        let earlier = self.occurrences[path, default: 0]
        self.occurrences[path] = earlier + 1
        self.repeatedItems &+= hash &* earlier
    }

    /// Notes a value that is allowed to differ.
    ///
    /// - Parameter isGeneral: whether the rule covers any array element or member.
    mutating func exempt(_ pointer: [UInt8], _ text: UnsafeRawBufferPointer, isGeneral: Bool) {
        guard pointer.count <= BodyFacets.nameLimit, text.count <= ExemptValue.sizeLimit else { return }
        let place = isGeneral ? ExemptValue.place(of: pointer) : nil
        self.exempt(ExemptValue(pointer: pointer, place: place, text: Array(text)))
    }

    mutating func exempt(_ value: ExemptValue?) {
        // Pointers refer to the body itself.
        guard let value, self.container == nil, self.exempt.count < ExemptValue.limit else { return }
        self.exempt.append(value)
    }

    /// - Parameter optional: the value that may be missing to which all of them belong.
    mutating func add(_ other: FacetCollector, optional: [UInt64] = []) {
        var other = other
        if optional.isEmpty {
            self.optional.add(other.optional)
        } else {
            self.optional.add(FacetSum(sum: other.sum, count: other.count))
            for index in other.facets.indices { other.facets[index].optional.insert(contentsOf: optional, at: 0) }
        }
        self.exempt += other.exempt.prefix(ExemptValue.limit - self.exempt.count)
        self.count += other.count
        self.sum &+= other.sum
        self.repeatedItems &+= other.repeatedItems
        self.hasMarks = self.hasMarks || other.hasMarks
        // They were collected with the same limits.
        if self.facets.isEmpty, self.room >= other.room {
            self.facets = other.facets
            self.room = other.room
            return
        }
        for facet in other.facets where self.isKeeping {
            self.facets.append(facet)
            self.room -= facet.name.count + facet.value.count + (facet.filename?.count ?? 0) + facet.type.count + facet.within.count
        }
    }

    func facets(_ kind: BodyFacets.Kind) -> BodyFacets {
        var facets = BodyFacets(
            kind: kind, facets: self.facets, count: self.count, hasMarks: self.hasMarks, sum: self.sum, exempt: self.exempt)
        facets.repeatedItems = self.repeatedItems
        facets.core = FacetSum(sum: self.sum &- self.optional.sum, count: self.count - self.optional.count)
        return facets
    }
}

/// The sum of the hashes of facets, which does not depend on their order, and their number.
struct FacetSum: Sendable, Hashable {
    var sum: UInt64 = 0
    var count = 0

    mutating func add(_ other: FacetSum) {
        self.sum &+= other.sum
        self.count += other.count
    }
}

/// A JSON number, string or other scalar that a rule ignores or has a pattern for, as spelled.
struct ExemptValue: Sendable, Hashable {
    /// The most values kept of one body, such as the ids of a batch of calls, and the most bytes of one value: ids are short.
    static let limit = 256
    static let sizeLimit = 256

    /// A JSON Pointer (RFC 6901), or the name of a form field after a mark that begins no pointer.
    var pointer: [UInt8]
    /// The same with `*` for array indexes, if the rule covers any element: a server may reorder them.
    var place: [UInt8]?
    var text: [UInt8]

    /// A pointer with `*` for its array indexes.
    static func place(of pointer: [UInt8]) -> [UInt8] {
        var place: [UInt8] = []
        for segment in pointer.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst() {
            let isNumber = !segment.isEmpty && segment.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
            place.append(UInt8(ascii: "/"))
            if isNumber { place.append(UInt8(ascii: "*")) } else { place += segment }
        }
        return place
    }

    /// An estimate of its memory use, in bytes.
    var weight: Int { 88 + self.pointer.count + (self.place?.count ?? 0) + self.text.count }
}

extension ExemptValue {
    /// The same value in an element of an array whose order does not count.
    ///
    /// - Parameters:
    ///   - end: the length of the element's pointer, which ends in `*`.
    ///   - digest: of what is compared of the element.
    func inElement(_ end: Int, _ digest: [UInt8]) -> ExemptValue {
        var value = self
        value.place = value.place ?? Self.place(of: self.pointer)
        value.pointer.insert(contentsOf: Hex.encode(digest).utf8, at: end)
        return value
    }

    private static let fieldMark = Array("form:".utf8)

    /// A field of a form; nil if it is too long.
    init?(formField name: [UInt8], value: [UInt8]) {
        guard name.count <= BodyFacets.nameLimit, value.count <= Self.sizeLimit else { return nil }
        self.pointer = Self.fieldMark + name
        self.text = [UInt8(ascii: "\"")] + value + [UInt8(ascii: "\"")]
    }

    /// nil for a place in JSON.
    var formField: EchoedItems.Item? {
        guard self.pointer.starts(with: Self.fieldMark) else { return nil }
        return EchoedItems.Item(name: Array(self.pointer.dropFirst(Self.fieldMark.count)), value: Array(self.text.dropFirst().dropLast()))
    }
}

/// Hashes of facets and of the paths to them.
///
/// Uses a new seed in each process, so that a hostile cassette cannot contain colliding values. Not to be stored.
enum FacetHash {
    /// The kind of value, so that a string never equals a number, and a part never equals a field.
    enum Tag: UInt8 {
        case bytes, undecoded, text, object, array, string, spelledString, number, spelledNumber, yes, no, null
        case field, part, notClosed, rest, pattern
        case message, group, fixed32, fixed64
        case prefix
        case container, line, header
        case element, leaf, attribute, characters, qualifiedName, instruction, documentType
    }

    /// The path of the whole body.
    static let root: UInt64 = 0

    static func path(_ parent: UInt64, _ name: UnsafeRawBufferPointer, ordinal: Int = 0) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(parent)
        hasher.combine(ordinal)
        hasher.combine(bytes: name)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }

    static func value(_ path: UInt64, _ tag: Tag, _ value: UnsafeRawBufferPointer) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(path)
        hasher.combine(tag.rawValue)
        hasher.combine(bytes: value)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }
}
