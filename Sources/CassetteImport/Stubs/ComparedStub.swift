internal import CassetteModel
internal import CassetteRedaction
internal import TapeBytes

/// The positions of stubs, found by what a request must have.
struct ComparedStubs {
    private typealias Values = [StubConditions.Place: [[UInt8]]]

    /// By method and URL without query, by the places that are compared, and by their values.
    private var positions: [String: [Set<StubConditions.Place>: [Values: Int]]] = [:]

    mutating func add(_ stub: ComparedStub, at position: Int) {
        let places = stub.places
        guard let values = stub.values(at: places) else { return }
        self.positions[stub.base, default: [:]][places, default: [:]][values] = position
    }

    mutating func remove(_ stub: ComparedStub) {
        let places = stub.places
        if let values = stub.values(at: places) { self.positions[stub.base]?[places]?[values] = nil }
    }

    /// The position of the first stub that answers each request that another one answers.
    func first(covering stub: ComparedStub) -> Int? {
        (self.positions[stub.base] ?? [:]).compactMap { places, positions in stub.values(at: places).flatMap { positions[$0] } }.min()
    }
}

/// What a replay compares of a stub's request: its values after redaction, without the numbers of placeholders.
struct ComparedStub {
    /// Method and URL without the query.
    let base: String
    /// The URL without the query.
    let url: String
    let path: String
    /// That of the URL.
    private let server: ImportedStub.Server
    /// The body, if it is JSON and is compared.
    private var json: JSONShape?
    private var values: [StubConditions.Place: [[UInt8]]] = [:]
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
        for place in exchange.stub?.exact ?? [] {
            let (before, after): ([[UInt8]], [[UInt8]])
            switch place {
            case .query:
                self.items = redactedQuery
                self.values[place] = []
                if query != redactedQuery { self.secrets.append("query") }
                continue
            case .queryItem(let name): (before, after) = (query[name] ?? [], redactedQuery[name] ?? [])
            case .header(let name): (before, after) = (Self.values(name, headers), Self.values(name, redacted.headers))
            case .cookie(let name): (before, after) = (Self.cookies(name, headers), Self.cookies(name, redacted.headers))
            case .body:
                let body = exchange.requestBody?.bytes ?? []
                (before, after) = ([body], [redactor?.redacted(body: body, headers: headers) ?? body])
            }
            if place == .body, let body = after.first { self.json = (try? JSONDocument(body)).map { JSONShape($0.root) } }
            if before != after { self.secrets.append(place.text) }
            self.values[place] = after.map(Placeholder.withoutNumbers)
        }
    }

    static func base(of request: RecordedRequest) -> String { "\(request.method) \(request.url.prefix { $0 != "?" })" }

    /// The places that are compared.
    var places: Set<StubConditions.Place> { Set(self.values.keys) }

    /// The values that each request must have at some places; nil if it may have any at one of them.
    func values(at places: Set<StubConditions.Place>) -> [StubConditions.Place: [[UInt8]]]? {
        var values: [StubConditions.Place: [[UInt8]]] = [:]
        for place in places {
            guard let value = self.values(at: place) else { return nil }
            values[place] = value
        }
        return values
    }

    /// Whether it answers the same requests as another one.
    func equals(_ other: ComparedStub) -> Bool {
        self.base == other.base && self.places == other.places && self.values(at: self.places) == other.values(at: self.places)
    }

    /// Whether there may be a request for which the tool could choose either of them.
    ///
    /// - Parameter stub: the stub of this request. If it answers more requests than the value that it names, similar values count as equal.
    func overlaps(_ other: ComparedStub, _ stub: ImportedStub) -> Bool {
        guard self.url == other.url || self.path == other.path && stub.server.includes(other.server),
            stub.takesAnyMethod || self.method == other.method
        else { return false }
        for place in Set(self.values.keys).union(other.values.keys) {
            guard let mine = self.values(at: place), let theirs = other.values(at: place), mine != theirs else { continue }
            let mayShare =
                place == .body ? self.mayShareBody(mine.first ?? [], other, theirs.first ?? []) : Self.maySpell(mine, theirs)
            guard stub.isNarrow, mayShare else { return false }
        }
        return true
    }

    private var method: Substring { self.base.prefix { $0 != " " } }

    /// Whether a narrowed condition for a body may be met by the body of another stub: further members of JSON, further fields of a form, any
    /// other XML.
    private func mayShareBody(_ mine: [UInt8], _ other: ComparedStub, _ theirs: [UInt8]) -> Bool {
        if let mine = self.json { return other.json.map { !mine.differs(from: $0) } ?? false }
        if mine.first == UInt8(ascii: "<") { return theirs.first == UInt8(ascii: "<") }
        guard mine.contains(UInt8(ascii: "=")) else { return Self.maySpell([mine], [theirs]) }
        func fields(_ body: [UInt8]) -> Set<String> {
            Set(body.split(separator: UInt8(ascii: "&")).map { StubRequest.decoded(String(decoding: $0, as: UTF8.self)[...]).lowercased() })
        }
        return fields(mine).isSubset(of: fields(theirs))
    }

    /// The values that a request must have at a place; nil if it may have any.
    private func values(at place: StubConditions.Place) -> [[UInt8]]? {
        switch place {
        case .query: self.items.map { items in items.keys.sorted().flatMap { [Array($0.utf8)] + (items[$0] ?? []) } }
        case .queryItem(let name): self.items.map { $0[name] ?? [] } ?? self.values[place]
        case .body, .header, .cookie: self.values[place]
        }
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

/// What a JSON document requires of others that have its members and perhaps further ones: the value at each path, and the kind of each object
/// and array.
///
/// The elements of arrays may be in any order and there may be further ones, so they require nothing. Nor does what stands for any value
/// (`${json-unit.any-string}`).
private struct JSONShape {
    private struct Requirement {
        /// Hashes of this process.
        var path: Int
        var value: Int
    }

    /// Ascending by path. Each path is there once.
    private let requirements: [Requirement]

    init(_ root: JSONValue) {
        var values: [Int: Int] = [:]
        func add(_ value: JSONValue, _ path: Int) {
            var hasher = Hasher()
            switch value.kind {
            case .object:
                hasher.combine("{")
                for member in value.members {
                    var inner = Hasher()
                    inner.combine(path)
                    inner.combine(member.name.string)
                    add(member.value, inner.finalize())
                }
            case .array: hasher.combine("[")
            case .number: hasher.combine(value.double)
            case .string:
                guard value.string?.hasPrefix("${json-unit.") != true else { return }
                hasher.combine(value.string)
            case .true, .false, .null: hasher.combine(value.kind)
            }
            // Of members with one name, the last one counts.
            values[path] = hasher.finalize()
        }
        add(root, 0)
        self.requirements = values.map { Requirement(path: $0, value: $1) }.sorted { $0.path < $1.path }
    }

    /// Whether no document can have the members of both.
    func differs(from other: JSONShape) -> Bool {
        var (here, there) = (0, 0)
        while here < self.requirements.count, there < other.requirements.count {
            let (mine, theirs) = (self.requirements[here], other.requirements[there])
            if mine.path == theirs.path {
                guard mine.value == theirs.value else { return true }
                here += 1
                there += 1
            } else if mine.path < theirs.path {
                here += 1
            } else {
                there += 1
            }
        }
        return false
    }
}
