internal import CassetteModel
internal import TapeBytes

/// The parts of a request that stubs compare in their own ways, with marks for placeholders.
struct StubParts: Sendable, Hashable {
    /// The path and the query as they are written.
    let url: [UInt8]
    /// The path as it is written.
    let path: [UInt8]
    let query: DecodedQuery
    /// The values of fields, by their names in lower case, each line by itself.
    private var fields: [String: [[UInt8]]] = [:]
    private var cookies: [String: [[UInt8]]] = [:]

    /// - Parameters:
    ///   - url: redacted, like the fields.
    ///   - rules: what they ignore is left out, and their patterns make values equal.
    init(url: String, _ headers: HeaderFields, _ rules: MatchRules) {
        self.url = Self.target(of: url, rules, withQuery: true)
        self.path = Self.target(of: url, rules, withQuery: false)
        self.query = rules.head.comparesQuery ? DecodedQuery(url, rules) : DecodedQuery()
        for index in 0..<headers.count {
            let name = headers.name(at: index).lowercased()
            guard !rules.ignoresField(name) else { continue }
            var value = Array(headers.valueBytes(at: index))
            if let substitute = rules.substitute(for: value, ofField: name) { value = substitute }
            value = Self.marked(value)
            self.fields[name, default: []].append(value)
            guard name == "cookie" else { continue }
            for cookie in value.split(separator: UInt8(ascii: ";")) {
                let pair = cookie.drop { $0 == 32 }
                let name = String(decoding: pair.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
                self.cookies[name, default: []].append(Array(pair))
            }
        }
    }

    private static func target(of url: String, _ rules: MatchRules, withQuery: Bool) -> [UInt8] {
        // In the form of a key, but not normalised.
        let bytes = self.marked(Array("* \(url.prefix { $0 != "#" })".utf8))
        return bytes.withUnsafeBytes { HeadKeyWriter(rules.head, $0, methodEnd: 1).target(withQuery: withQuery) }
    }

    private static func marked(_ bytes: [UInt8]) -> [UInt8] { bytes.withUnsafeBytes { MatchMark.replaced(in: $0) } ?? bytes }

    /// The values of an item, a field or a cookie.
    private func values(_ place: StubConditions.Place) -> [[UInt8]] {
        switch place {
        case .queryItem(let name): self.query.values(of: Array(name.utf8))
        case .header(let name): self.fields[name] ?? []
        case .cookie(let name): self.cookies[name] ?? []
        case .url, .path, .query, .body, .bodyAs: []
        }
    }

    /// Whether a live request has each value of this recorded one, and perhaps others.
    func isIncluded(in live: StubParts, at place: StubConditions.Place) -> Bool {
        let (here, there) = (live.values(place), self.values(place))
        guard !there.isEmpty else { return here.isEmpty }
        return there.allSatisfy { value in here.contains { Self.agree($0, value) } }
    }

    /// Whether the values of a live request, joined by semicolons, are those of this recorded one.
    func isJoined(in live: StubParts, at place: StubConditions.Place) -> Bool {
        guard let here = live.joined(place), let there = self.joined(place) else { return false }
        guard !here.isEmpty, !there.isEmpty else { return here.isEmpty == there.isEmpty }
        return Self.agree(Array(here.joined(separator: [UInt8(ascii: ";")])), Array(there.joined(separator: [UInt8(ascii: ";")])))
    }

    /// Nil if items have the name in several letter cases: the tool takes one of them by chance.
    private func joined(_ place: StubConditions.Place) -> [[UInt8]]? {
        guard case .queryItem(let name) = place else { return self.values(place) }
        let names = self.query.names(like: name)
        return names.count > 1 ? nil : names.first.map { self.query.values(of: $0) } ?? []
    }

    func hasSeveral(_ place: StubConditions.Place) -> Bool { self.values(place).count > 1 }

    /// Whether two values are equal, or one has marks that the other fits.
    static func agree(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one == other
            || one.withUnsafeBytes { one in
                other.withUnsafeBytes { other in
                    MatchMark.isIn(one) && MatchMark.value(one, fits: other) || MatchMark.isIn(other) && MatchMark.value(other, fits: one)
                }
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

    func values(of name: [UInt8]) -> [[UInt8]] { self.values[name] ?? [] }

    /// The names that are equal in lower case.
    func names(like name: String) -> [[UInt8]] {
        let name = name.lowercased()
        return self.values.keys.filter { String(decoding: $0, as: UTF8.self).lowercased() == name }
    }

    /// Whether both have the same items.
    func agrees(with other: DecodedQuery) -> Bool {
        self.values.count == other.values.count && self.values.keys.allSatisfy { self.agrees(with: other, on: $0) }
    }

    /// Whether both have the same values of an item, in the same order, or neither has the item.
    func agrees(with other: DecodedQuery, on name: [UInt8]) -> Bool {
        let (here, there) = (self.values(of: name), other.values(of: name))
        return here.count == there.count && zip(here, there).allSatisfy { StubParts.agree($0, $1) }
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
