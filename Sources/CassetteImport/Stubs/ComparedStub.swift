internal import CassetteModel
internal import CassetteRedaction
internal import TapeBytes

/// The positions of stubs, found by what a request must have.
struct ComparedStubs {
    private typealias Values = [ComparedStub.Condition: [[UInt8]]]

    /// By method and URL without query, by the conditions, and by their values.
    private var positions: [String: [Set<ComparedStub.Condition>: [Values: Int]]] = [:]

    mutating func add(_ stub: ComparedStub, at position: Int) {
        let conditions = stub.conditions
        guard let values = stub.values(of: conditions) else { return }
        self.positions[stub.base, default: [:]][conditions, default: [:]][values] = position
    }

    mutating func remove(_ stub: ComparedStub) {
        let conditions = stub.conditions
        if let values = stub.values(of: conditions) { self.positions[stub.base]?[conditions]?[values] = nil }
    }

    /// The position of the first stub that answers each request that another one answers.
    func first(covering stub: ComparedStub) -> Int? {
        (self.positions[stub.base] ?? [:]).compactMap { conditions, positions in
            stub.values(of: conditions).flatMap { positions[$0] }
        }.min()
    }
}

/// What a replay compares of a stub's request: its values after redaction, without the numbers of placeholders.
struct ComparedStub {
    /// A place, and how its values are compared.
    struct Condition: Hashable {
        /// The name of an item whose values are joined is in lower case.
        var place: StubConditions.Place
        var comparison: StubRequest.Comparison

        var isOfBody: Bool {
            switch self.place {
            case .body, .bodyAs: true
            case .url, .path, .query, .queryItem, .header, .cookie: false
            }
        }
    }

    /// Method and URL without the query.
    let base: String
    /// The URL without the query.
    let url: String
    let path: String
    /// That of the URL.
    private let server: ImportedStub.Server
    /// The body, if it is JSON and is compared.
    private(set) var json: JSONShape?
    private var values: [Condition: [[UInt8]]] = [:]
    /// All items of the query by their decoded names, if the whole query is compared.
    private var items: [String: [[UInt8]]]?
    /// The places with a value that is redacted, so that any other value is equal.
    private(set) var secrets: [String] = []

    init(_ exchange: ImportedExchange, _ rules: RedactionRules?) {
        let (url, headers) = (exchange.request.url, exchange.request.headers)
        // A redactor of its own for each stub, so that equal texts get equal numbers.
        let redactor = rules.map { LiveRedactor(Redactor(rules: $0)) }
        let redacted: (url: String, headers: HeaderFields) = redactor?.redacted(url: url, headers: headers) ?? (url, headers)
        self.base = Self.base(of: RecordedRequest(method: exchange.request.method, url: redacted.url))
        self.url = String(redacted.url.prefix { $0 != "?" })
        let whole = self.url
        let rest = whole.firstRange(of: "://").map { whole[$0.upperBound...] } ?? whole[...]
        let path = rest.drop { $0 != "/" }
        self.path = path.isEmpty ? "/" : String(path)
        let scheme = whole.firstRange(of: "://").map { String(whole[..<$0.lowerBound]) } ?? ""
        let authority = rest.prefix { $0 != "/" }
        let colon = authority.hasSuffix("]") ? nil : authority.lastIndex(of: ":")
        self.server = ImportedStub.Server(
            scheme: scheme, host: String(colon.map { authority[..<$0] } ?? authority),
            port: colon.flatMap { Int(authority[authority.index(after: $0)...]) } ?? (scheme == "https" ? 443 : 80))
        if url.prefix(while: { $0 != "?" }) != redacted.url.prefix(while: { $0 != "?" }) { self.secrets.append("path") }
        let query = Self.items(of: url)
        let redactedQuery = Self.items(of: redacted.url)
        func values(_ place: StubConditions.Place) -> (before: [[UInt8]], after: [[UInt8]]) {
            switch place {
            // The base has the path.
            case .path: return ([], [])
            case .url: return ([Array(url.drop { $0 != "?" }.utf8)], [Array(redacted.url.drop { $0 != "?" }.utf8)])
            case .query: return (Self.flat(query), Self.flat(redactedQuery))
            case .queryItem(let name): return (query[name] ?? [], redactedQuery[name] ?? [])
            case .header(let name): return (Self.values(name, headers), Self.values(name, redacted.headers))
            case .cookie(let name): return (Self.cookies(name, headers), Self.cookies(name, redacted.headers))
            case .body, .bodyAs:
                let body = exchange.requestBody?.bytes ?? []
                return ([body], [redactor?.redacted(body: body, headers: headers) ?? body])
            }
        }
        let stub = exchange.stub ?? StubConditions(exact: [])
        let lists: [(StubRequest.Comparison, [StubConditions.Place])] = [
            (.exact, stub.exact), (.includes, stub.includes), (.joined, stub.joined),
        ]
        for (comparison, places) in lists {
            for place in places {
                let (before, after) = values(place)
                if before != after { self.secrets.append(place == .url ? "query" : place.text) }
                let marked = after.map(Placeholder.withoutNumbers)
                switch place {
                case .url, .query: self.items = redactedQuery
                case .body, .bodyAs: if let body = after.first { self.json = (try? JSONDocument(body)).map { JSONShape($0.root) } }
                case .path, .queryItem, .header, .cookie: break
                }
                let condition = Condition(place: Self.compared(place, comparison), comparison: comparison)
                self.values[condition] = comparison == .joined ? [Array(marked.joined(separator: [UInt8(ascii: ";")]))] : marked
            }
        }
    }

    private static func compared(_ place: StubConditions.Place, _ comparison: StubRequest.Comparison) -> StubConditions.Place {
        if comparison == .joined, case .queryItem(let name) = place { .queryItem(name.lowercased()) } else { place }
    }

    static func base(of request: RecordedRequest) -> String { "\(request.method) \(request.url.prefix { $0 != "?" })" }

    var conditions: Set<Condition> { Set(self.values.keys) }

    /// The values that each request must have under some conditions; nil if it may have any under one of them.
    func values(of conditions: Set<Condition>) -> [Condition: [[UInt8]]]? {
        var values: [Condition: [[UInt8]]] = [:]
        for condition in conditions {
            guard let value = self.values(of: condition) else { return nil }
            values[condition] = value
        }
        return values
    }

    /// The values that a request must have under a condition of another stub; nil if it may have any.
    private func values(of condition: Condition) -> [[UInt8]]? {
        if let values = self.values[condition] { return values }
        let isWhole = condition.comparison != .joined
        switch condition.place {
        case .path: return self.values.keys.contains { $0.place == .url } ? [] : nil
        case .query: return self.items.map(Self.flat)
        case .queryItem(let name): if isWhole, let items { return items[name] ?? [] }
        case .url, .header, .cookie, .body, .bodyAs: break
        }
        // One that must have exactly these values has them among others.
        return condition.comparison == .includes ? self.values[Condition(place: condition.place, comparison: .exact)] : nil
    }

    /// Whether it answers the same requests as another one.
    func equals(_ other: ComparedStub) -> Bool {
        self.base == other.base && self.values == other.values
    }

    /// The values of places of which a request may have several.
    var included: [(place: StubConditions.Place, values: [[UInt8]])] {
        self.values.compactMap { $0.key.comparison == .includes ? ($0.key.place, $0.value) : nil }
    }

    /// Whether there may be a request for which the tool could choose either of them. Leaves out those with several values of one place.
    ///
    /// - Parameter stub: the stub of this request. If it answers more requests than the value that it names, similar values count as equal.
    func overlaps(_ other: ComparedStub, _ stub: ImportedStub) -> Bool {
        guard self.url == other.url || self.path == other.path && stub.server.includes(other.server),
            stub.takesAnyMethod || self.method == other.method
        else { return false }
        if let mine = self.body, let theirs = other.body, mine.value != theirs.value {
            guard stub.isNarrow || mine.condition != theirs.condition, mine.value.isEmpty == theirs.value.isEmpty,
                self.mayShareBody(mine.value, other, theirs.value)
            else { return false }
        }
        for condition in self.conditions.union(other.conditions) where !condition.isOfBody {
            guard let mine = self.values(of: condition), let theirs = other.values(of: condition), mine != theirs else { continue }
            if condition.comparison == .includes {
                // One of them has further values.
                if other.values[condition] == nil, mine.allSatisfy(theirs.contains) { continue }
                if self.values[condition] == nil, theirs.allSatisfy(mine.contains) { continue }
            }
            guard stub.isNarrow, Self.maySpell(mine, theirs) else { return false }
        }
        return true
    }

    private var method: Substring { self.base.prefix { $0 != " " } }

    private var body: (condition: Condition, value: [UInt8])? {
        self.values.first { $0.key.isOfBody }.map { ($0.key, $0.value.first ?? []) }
    }

    /// Whether a condition for a body that is narrowed or of another kind may be met by the body of another stub: further members of JSON,
    /// further fields of a form, any other XML.
    private func mayShareBody(_ mine: [UInt8], _ other: ComparedStub, _ theirs: [UInt8]) -> Bool {
        if let mine = self.json { return other.json.map { !mine.differs(from: $0) } ?? false }
        if mine.first == UInt8(ascii: "<") { return theirs.first == UInt8(ascii: "<") }
        guard mine.contains(UInt8(ascii: "=")) else { return Self.maySpell([mine], [theirs]) }
        func fields(_ body: [UInt8]) -> Set<String> {
            Set(body.split(separator: UInt8(ascii: "&")).map { StubRequest.decoded(String(decoding: $0, as: UTF8.self)[...]).lowercased() })
        }
        return fields(mine).isSubset(of: fields(theirs))
    }

    /// Whether a narrowed condition for one list of values may be met by another one: lists of different lengths may be parts of each other,
    /// and others may differ in their letter case.
    private static func maySpell(_ one: [[UInt8]], _ other: [[UInt8]]) -> Bool {
        guard one.count == other.count else { return !one.isEmpty && !other.isEmpty }
        return zip(one, other).allSatisfy { one, other in
            let (one, other) = (String(decoding: one, as: UTF8.self).lowercased(), String(decoding: other, as: UTF8.self).lowercased())
            return one.contains(other) || other.contains(one)
        }
    }

    private static func flat(_ items: [String: [[UInt8]]]) -> [[UInt8]] {
        items.keys.sorted().flatMap { [Array($0.utf8)] + (items[$0] ?? []) }
    }

    private static func values(_ name: String, _ headers: HeaderFields) -> [[UInt8]] {
        (0..<headers.count).filter { headers.name(at: $0).lowercased() == name }.map { Array(headers.value(at: $0).utf8) }
    }

    private static func cookies(_ name: String, _ headers: HeaderFields) -> [[UInt8]] {
        headers.values("cookie").flatMap { $0.split(separator: ";") }.map { $0.drop { $0 == " " } }
            .filter { pair in pair.prefix { $0 != "=" } == name }.map { Array($0.utf8) }
    }

    private static func items(of url: String) -> [String: [[UInt8]]] {
        var items: [String: [[UInt8]]] = [:]
        for item in url.drop(while: { $0 != "?" }).dropFirst().split(separator: "&") {
            let name = item.prefix { $0 != "=" }
            let value = StubRequest.decoded(item.dropFirst(name.count + 1))
            items[StubRequest.decoded(name), default: []].append(Placeholder.withoutNumbers(Array(value.utf8)))
        }
        return items
    }
}
