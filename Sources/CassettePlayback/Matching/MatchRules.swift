public import CassetteModel
public import TapeBytes

/// The rules that decide whether a live request matches a recorded one. All of them must find the two equal.
///
/// Knows the grammar of rules. The comparison itself is done by the head key and `BodyFacets`.
public struct MatchRules: Sendable {
    /// Limit on the number of rules, ignored places and patterns together: each costs time in every request.
    public static let ruleLimit = 256

    /// Without duplicates, and without those whose place is ignored.
    public let rules: [MatchRule]
    public let ignored: [MatchPlace]
    public let patterns: [PlacePattern]
    /// Applied to both sides before they are compared.
    public let replacements: [PlaceReplacement]
    /// Arrays whose order is not compared.
    public let sorted: [MatchPlace]
    /// Values that may be missing on either side.
    public let optional: [MatchPlace]
    /// The texts that the rules were made from.
    public let texts: MatchRuleTexts
    /// Rules that can only be added by a program.
    public var custom: [CustomMatch] = []
    /// The types of gRPC messages, for the names of fields, for maps and for packed numbers.
    public var schema: ProtoSchema?
    let head: HeadPlan
    private(set) var body: BodyPlan
    private let ordersParts: Bool
    private let places: PlaceRules

    /// Method, URL with its query in any order, and the body by its kind.
    public static let standard = MatchRules(Draft.standard, MatchRuleTexts())

    /// The names of the default rules.
    public static let standardNames = ["method", "url", "body"]

    public init(_ texts: MatchRuleTexts) throws(MatchRuleError) {
        // The head of a cassette and an option may have the same preset.
        let texts = texts.once
        guard texts.count <= Self.ruleLimit else {
            throw MatchRuleError(.tooMany, "there are \(texts.count) match rules, but at most \(Self.ruleLimit) are allowed; remove some")
        }
        var draft = Draft()
        if let match = texts.match {
            try draft.add(match)
        } else {
            draft = .standard
        }
        for text in texts.ignore { draft.ignore(try MatchPlace(reaching: text)) }
        for text in texts.patterns {
            let pattern = try PlacePattern(text)
            if !draft.places.patterns.contains(pattern) { draft.places.patterns.append(pattern) }
        }
        for text in texts.replace {
            let replacement = try PlaceReplacement(text)
            if !draft.places.replacements.contains(replacement) { draft.places.replacements.append(replacement) }
        }
        for text in texts.sort {
            let place = try Self.sorted(text)
            if !draft.places.sorted.contains(place) { draft.places.sorted.append(place) }
        }
        for text in texts.optional {
            let place = try Self.optional(text)
            if !draft.places.optional.contains(place) { draft.places.optional.append(place) }
        }
        for index in draft.places.replacements.indices { draft.places.replacements[index].position = index }
        try draft.places.checkLimits()
        self.init(draft, texts)
    }

    /// The place of an array whose order does not count.
    public static func sorted(_ text: String) throws(MatchRuleError) -> MatchPlace {
        let place = try MatchPlace(reaching: text)
        guard case .json = place.innermost else {
            throw MatchRuleError(
                .unknownPlace,
                "\"\(PlainText.escape(text.utf8, limit: 80))\" is not an array in JSON; write \"json:/POINTER\" (the order of query items, form fields and named parts does not count anyway)"
            )
        }
        return place
    }

    /// The place of a value that may be missing.
    public static func optional(_ text: String) throws(MatchRuleError) -> MatchPlace {
        let place = try MatchPlace(reaching: text)
        switch place {
        case .json(let pointer) where !pointer.path.segments.isEmpty: return place
        case .formField: return place
        case .method, .scheme, .host, .port, .path, .query, .queryItem, .header, .body, .json, .xml, .grpc, .part, .within, .partFilename:
            throw MatchRuleError(
                .unknownPlace,
                "\"\(PlainText.escape(text.utf8, limit: 80))\" cannot be optional; write \"json:/POINTER\" or \"form:NAME\" for a value in the body, or ignore the place"
            )
        }
    }

    public init(
        match: [String]? = nil, ignore: [String] = [], patterns: [String] = [], replace: [String] = [], sort: [String] = [],
        optional: [String] = []
    ) throws(MatchRuleError) {
        try self.init(
            MatchRuleTexts(match: match, ignore: ignore, patterns: patterns, replace: replace, sort: sort, optional: optional))
    }

    private init(_ draft: Draft, _ texts: MatchRuleTexts) {
        self.rules = draft.rules
        self.places = draft.places
        self.ignored = draft.places.ignored
        self.patterns = draft.places.patterns
        self.replacements = draft.places.replacements
        self.sorted = draft.places.sorted
        self.optional = draft.places.optional
        self.texts = texts
        self.head = HeadPlan(rules: draft.rules, draft.places)
        self.ordersParts = draft.ordersParts
        self.body = BodyPlan(rules: draft.rules, ordersParts: draft.ordersParts, draft.places)
        self.isStandardHead = self.head.isStandard
    }

    /// These rules combined with others: `match` replaces, the rest adds.
    public func adding(_ other: MatchRuleTexts) throws(MatchRuleError) -> MatchRules {
        guard !other.isEmpty else { return self }
        var rules = try MatchRules(self.texts.adding(other))
        rules.custom = self.custom
        rules.schema = self.schema
        return rules
    }

    /// These rules, for comparing recorded values that contain marks with live values.
    func keepingWholeValues() -> MatchRules {
        var rules = self
        rules.body = BodyPlan(rules: self.rules, ordersParts: self.ordersParts, self.places, keepsWholeValues: true)
        return rules
    }

    /// These rules, for a cassette with stubs: the content of live bodies is kept.
    func keepingContent() -> MatchRules {
        var rules = self
        rules.body = BodyPlan(
            rules: self.rules, ordersParts: self.ordersParts, self.places, keepsWholeValues: self.body.keepsWholeValues,
            keepsContent: true)
        return rules
    }

    /// These rules, but bodies are compared as this kind.
    func comparingBodies(as match: BodyMatch) -> MatchRules {
        var rules = self
        rules.body = BodyPlan(
            rules: [.body(match)], ordersParts: self.ordersParts, self.places, keepsWholeValues: self.body.keepsWholeValues)
        return rules
    }

    /// How a stub's body is compared; nil if these rules compare all bodies in another way, or ignore places that the kind does not have.
    func match(ofStub kind: StubConditions.BodyKind) -> BodyMatch? {
        guard self.body.match == .byKind, !self.body.isGraphQL else { return nil }
        switch kind {
        case .json: return .json
        case .xml: return .xml
        case .text: return self.hasPlacesInBodies ? nil : .text
        case .bytes: return self.hasPlacesInBodies ? nil : .bytes
        }
    }

    private var hasPlacesInBodies: Bool {
        self.places.places.contains { place in
            switch place {
            case .body, .json, .xml, .grpc, .formField, .part, .partFilename, .within: true
            case .method, .scheme, .host, .port, .path, .query, .queryItem, .header: false
            }
        }
    }

    /// Whether rules for places, patterns or schemes decide about more than the method and the head, so that bodies may be equal that differ
    /// in their bytes.
    package var changesBodies: Bool { !self.places.places.isEmpty || !self.custom.isEmpty || self.schema != nil || !self.looksAtBody }
    /// Whether bodies are compared (`BodyFacets`).
    public var looksAtBody: Bool { self.body.match != nil }
    /// Whether a rule leaves a header field out of every comparison.
    ///
    /// - Parameter name: in lower case.
    func ignoresField(_ name: String) -> Bool { !self.ignored.isEmpty && self.ignored.contains(.header(name)) }

    /// A header field's value as it is compared, if a rule rewrites it or a pattern matches it; nil otherwise.
    func substitute(for value: [UInt8], ofField name: String) -> [UInt8]? { self.head.fields[Array(name.utf8)]?.compared(value) }

    /// Whether header fields are compared.
    public var looksAtHeaders: Bool { !self.head.headers.isEmpty }
    /// Whether a body's facets include a part of the URL, so that requests without bodies are compared by facets as well.
    public var movesQueryToBody: Bool { self.body.isGraphQL }
    /// Whether the head is compared by the default rules.
    public let isStandardHead: Bool

    private struct Draft {
        var rules: [MatchRule] = []
        var ordersParts = false
        var places = PlaceRules()

        static let standard: Draft = {
            var draft = Draft()
            draft.rules = [.method] + Self.url + [.body(.byKind)]
            return draft
        }()

        private static let url: [MatchRule] = [.scheme, .host, .port, .path, .query(ordered: false)]

        mutating func add(_ names: [String]) throws(MatchRuleError) {
            guard !names.isEmpty else {
                throw MatchRuleError(
                    .unknownRule, "no rule is named, so every request would be equal; write at least \"method\"")
            }
            var ordersQuery = false
            for name in names {
                switch name {
                case "method": self.add(.method)
                case "scheme": self.add(.scheme)
                case "host": self.add(.host)
                case "port": self.add(.port)
                case "path": self.add(.path)
                case "query": self.add(.query(ordered: false))
                case "query-order": ordersQuery = true
                case "part-order": self.ordersParts = true
                case "url": Self.url.forEach { self.add($0) }
                case "body": try self.add(.byKind)
                case "graphql": self.add(.graphQL)
                default: try self.addOther(name)
                }
            }
            if ordersQuery {
                self.rules.removeAll { $0 == .query(ordered: false) }
                self.add(.query(ordered: true))
            }
            let hasBody = self.rules.contains { if case .body = $0 { true } else { $0 == .graphQL } }
            guard !self.ordersParts || hasBody else {
                throw MatchRuleError(.unknownRule, "\"part-order\" has no effect, because bodies are not compared; add \"body\"")
            }
        }

        private mutating func addOther(_ name: String) throws(MatchRuleError) {
            if name.hasPrefix("header:") { return self.add(.header(try MatchPlace.fieldName(String(name.dropFirst(7))))) }
            if name.hasPrefix("body:"), let match = BodyMatch(rawValue: String(name.dropFirst(5))) { return try self.add(match) }
            throw MatchRuleError(
                .unknownRule,
                "\"\(PlainText.escape(name.utf8, limit: 80))\" is not a match rule; write method, scheme, host, port, path, query, query-order, url, header:NAME, body, body:bytes, body:json, body:xml, body:form, body:multipart, body:text, part-order or graphql"
            )
        }

        private mutating func add(_ rule: MatchRule) {
            if !self.rules.contains(rule) { self.rules.append(rule) }
        }

        private mutating func add(_ match: BodyMatch) throws(MatchRuleError) {
            for case .body(let other) in self.rules where other != match {
                throw MatchRuleError(
                    .unknownRule,
                    "bodies cannot be compared as \"\(other.rawValue)\" and as \"\(match.rawValue)\" at once; write one of them")
            }
            self.add(MatchRule.body(match))
        }

        mutating func ignore(_ place: MatchPlace) {
            self.rules.removeAll { place.isAll(of: $0) }
            if !self.places.ignored.contains(place) { self.places.ignored.append(place) }
        }
    }
}

extension MatchPlace {
    /// Whether the place covers everything that a rule compares.
    fileprivate func isAll(of rule: MatchRule) -> Bool {
        switch (self, rule) {
        case (.method, .method), (.scheme, .scheme), (.host, .host), (.port, .port), (.path, .path), (.query, .query): true
        case (.body, .body), (.body, .graphQL): true
        case (.header(let name), .header(let other)): name == other
        case (_, _): false
        }
    }
}

/// One aspect in which requests are compared. `MatchRules` combine them by AND.
public enum MatchRule: Sendable, Hashable {
    case method
    case scheme
    /// Including the user information before it.
    case host
    case port
    case path
    case query(ordered: Bool)
    /// All values of a field, named in lower case.
    case header(String)
    case body(BodyMatch)
    /// The operation and its variables, instead of the body and the query items that contain them (GraphQL over HTTP). Any other request is
    /// compared by the kind of its body.
    case graphQL
}

/// How a request body is compared after its content codings are removed.
///
/// A body that is not of the requested kind is compared by its own kind, on both sides.
public enum BodyMatch: String, Sendable, Hashable, CaseIterable {
    /// As JSON, XML, a form, parts, gRPC messages or text if declared so, otherwise byte by byte.
    case byKind = "kind"
    case bytes
    /// By value: members in any order, numbers and strings in any spelling.
    case json
    /// Canonical XML, whatever the prefixes are.
    case xml
    /// Fields in any order.
    case form
    /// Part by part, without the boundary.
    case multipart
    /// By characters, whatever the charset.
    case text
}

/// A rule defined by a program and evaluated last: a closure that compares two requests.
///
/// Runs for each recorded request that all other rules find equal, on any thread, and must return the same result every time.
public struct CustomMatch: Sendable {
    /// The name shown in reports.
    public let name: String
    /// Nil if the requests are equal, otherwise a sentence that explains the difference.
    public let difference: @Sendable (_ recorded: MatchedRequest, _ live: MatchedRequest) -> String?

    public init(_ name: String, _ difference: @escaping @Sendable (_ recorded: MatchedRequest, _ live: MatchedRequest) -> String?) {
        self.name = name
        self.difference = difference
    }
}

/// A request as a custom rule sees it, live or recorded.
public struct MatchedRequest: Sendable {
    public var method: String
    public var url: String
    public var headers: HeaderFields
    /// Nil if it was not compared.
    public var body: BodyFacets?

    public init(method: String, url: String, headers: HeaderFields, body: BodyFacets? = nil) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// A match rule that cannot be understood.
///
/// Its message says which rule is wrong, why, and what to write instead.
public typealias MatchRuleError = CodedError<MatchRuleErrorCode>

/// A kind of error. More kinds may be added.
public struct MatchRuleErrorCode: Hashable, Sendable, CustomStringConvertible {
    private enum Value { case unknownRule, unknownPlace, badPattern, tooMany, badJSON }

    private var value: Value

    public static var unknownRule: Self { Self(value: .unknownRule) }
    public static var unknownPlace: Self { Self(value: .unknownPlace) }
    /// Not a regular expression, or a pattern for a place that has no single value.
    public static var badPattern: Self { Self(value: .badPattern) }
    public static var tooMany: Self { Self(value: .tooMany) }
    /// The JSON of the rules does not have the expected shape.
    public static var badJSON: Self { Self(value: .badJSON) }

    public var description: String { "\(self.value)" }
}
