internal import CassetteModel
internal import TapeBytes

/// What a recorded exchange requires of a request in a cassette with stubs, beyond the key that both have.
///
/// The keys of such a cassette contain no query, because a stub may answer requests with any. So an exchange that is not a stub requires its
/// whole head, and a stub what its conditions name. Knows no bodies.
struct ExchangeDemands: Sendable, Hashable {
    private enum Query: Sendable, Hashable {
        case anything
        /// Of an exchange that is not a stub.
        case head([UInt8])
        case all(DecodedQuery)
        case items([[UInt8]], of: DecodedQuery)
    }

    private struct Field: Sendable, Hashable {
        var name: UInt64
        /// In lower case; of a cookie `cookie`.
        var text: String
    }

    let isStub: Bool
    /// Whether a request with another body may get the answer.
    let ignoresBody: Bool
    /// Whether the stub names a body but no type, so that a request with the body may have any type.
    let takesType: Bool
    private var query: Query
    private var fields: [Field] = []

    /// Of an exchange in a cassette without stubs.
    static let none = ExchangeDemands(query: .anything)

    private init(query: Query) {
        self.isStub = false
        self.ignoresBody = false
        self.takesType = false
        self.query = query
    }

    /// - Parameter head: the key of the exchange with its query.
    static func ofWhole(_ head: [UInt8]) -> ExchangeDemands { ExchangeDemands(query: .head(head)) }

    init(_ stub: StubConditions, _ request: RecordedRequest, _ rules: MatchRules) {
        self.isStub = true
        self.ignoresBody = !stub.exact.contains(.body)
        self.takesType = !self.ignoresBody && request.body != nil && !request.headers.contains("content-type")
        self.query = .anything
        if rules.head.comparesQuery {
            let query = DecodedQuery(request.url, rules)
            let names = stub.exact.compactMap { if case .queryItem(let name) = $0 { Array(name.utf8) } else { nil } }
                .filter { !rules.head.items.ignores($0) }
            if stub.exact.contains(.query) {
                self.query = .all(query)
            } else if !names.isEmpty {
                self.query = .items(names, of: query)
            }
        }
        for place in stub.exact {
            switch place {
            case .header(let name): self.fields.append(Field(name: RequestProfile.hash(name), text: name))
            case .cookie(let name): self.fields.append(Field(name: RequestProfile.cookieHash(name), text: "cookie"))
            case .query, .queryItem, .body: continue
            }
        }
    }

    /// Whether a request meets them.
    ///
    /// - Parameter recorded: the fields of the recorded request.
    func areMet(by live: LiveFields, _ recorded: RequestProfile) -> Bool {
        switch self.query {
        case .anything: break
        case .head(let head): if !live.hasHead(head) { return false }
        case .all(let query): if !live.query.agrees(with: query) { return false }
        case .items(let names, let query): if !names.allSatisfy({ live.query.agrees(with: query, on: $0) }) { return false }
        }
        return self.fields.allSatisfy { live.profile.agrees(with: recorded, on: $0.name) }
    }

    /// The same without what the head requires, for a request whose key is different anyway.
    var withoutHead: ExchangeDemands { if case .head = self.query { .none } else { self } }

    /// The names of the fields that keep a request from being answered.
    func fields(unmetBy live: LiveFields, _ recorded: RequestProfile) -> [String] {
        self.fields.filter { !live.profile.agrees(with: recorded, on: $0.name) }.map(\.text)
    }

    /// How the URL of a request that does not meet them differs.
    func differences(from live: LiveFields) -> [RequestDifference] {
        switch self.query {
        case .anything: return []
        case .head(let head):
            guard !live.hasHead(head) else { return [] }
            return live.head.withUnsafeBytes { live in
                head.withUnsafeBytes { RequestComparison(RequestParts(live), RequestParts($0)).differences }
            }
        case .all(let query): return live.query.differences(from: query, on: nil)
        case .items(let names, let query): return live.query.differences(from: query, on: names)
        }
    }
}

/// The items of a query by their decoded names, with marks for placeholders. Spelling and the order of names do not count.
struct DecodedQuery: Sendable, Hashable {
    private var values: [[UInt8]: [[UInt8]]] = [:]

    /// An empty query.
    init() {}

    /// - Parameters:
    ///   - url: redacted.
    ///   - rules: their ignored items are left out, and their patterns make values equal.
    init(_ url: String, _ rules: MatchRules) {
        let bytes = Array(url.utf8)
        guard let mark = bytes.firstIndex(of: UInt8(ascii: "?")) else { return }
        let query = bytes[(mark + 1)...].prefix { $0 != UInt8(ascii: "#") }
        for item in query.split(separator: UInt8(ascii: "&")) {
            let encoded = item.prefix { $0 != UInt8(ascii: "=") }
            let name = FormFacets.decoded(encoded)
            if rules.head.items.ignores(name) || encoded.count == item.count && rules.head.items.ignores([]) { continue }
            var value = FormFacets.decoded(item.dropFirst(encoded.count + 1))
            if let compared = rules.head.items[name]?.compared(value) { value = compared }
            self.values[name, default: []].append(value.withUnsafeBytes { MatchMark.replaced(in: $0) } ?? value)
        }
    }

    /// Whether both have the same items.
    func agrees(with other: DecodedQuery) -> Bool {
        self.values.count == other.values.count && self.values.keys.allSatisfy { self.agrees(with: other, on: $0) }
    }

    /// Whether both have the same values of an item, in the same order, or neither has the item.
    func agrees(with other: DecodedQuery, on name: [UInt8]) -> Bool {
        let (here, there) = (self.values[name] ?? [], other.values[name] ?? [])
        return here.count == there.count && zip(here, there).allSatisfy { Self.agree($0, $1) }
    }

    private static func agree(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one == other
            || one.withUnsafeBytes { one in
                other.withUnsafeBytes { other in
                    MatchMark.isIn(one) && MatchMark.value(one, fits: other) || MatchMark.isIn(other) && MatchMark.value(other, fits: one)
                }
            }
    }

    /// - Parameter names: the items that are compared; nil for all.
    func differences(from recorded: DecodedQuery, on names: [[UInt8]]?) -> [RequestDifference] {
        let all = (names ?? Array(Set(self.values.keys).union(recorded.values.keys))).sorted { $0.lexicographicallyPrecedes($1) }
        return all.filter { !self.agrees(with: recorded, on: $0) }.map { name in
            let here = self.values[name].map { Self.text(name, $0) }
            let there = recorded.values[name].map { Self.text(name, $0) }
            return switch (here, there) {
            case (let here?, let there?): .queryItemChanged(here: here, recorded: there)
            case (let here?, nil): .queryItemAdded(here)
            case (nil, let there): .queryItemRemoved(there ?? "")
            }
        }
    }

    private static func text(_ name: [UInt8], _ values: [[UInt8]]) -> String {
        let items = values.map { HeadKeyWriter.escaped(name) + [UInt8(ascii: "=")] + HeadKeyWriter.escaped($0) }
        return PlainText.escape(Array(items.joined(separator: [UInt8(ascii: "&")])), limit: RequestComparison.textLimit)
    }
}
