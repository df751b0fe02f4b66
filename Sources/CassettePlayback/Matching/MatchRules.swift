public import CassetteModel
internal import TapeBytes

/// The rules by which a live request is taken for a recorded one: all must find the two equal.
///
/// Knows the grammar of rules. Comparing is the head key's and `BodyFacets`'.
public struct MatchRules: Sendable {
    /// Rules, ignored places and patterns together: each is work for every request.
    public static let ruleLimit = 256

    /// Without duplicates, and without those whose place is ignored.
    public let rules: [MatchRule]
    public let ignored: [MatchPlace]
    public let patterns: [PlacePattern]
    /// What the rules were made of.
    public let texts: MatchRuleTexts
    /// Only a program can add these.
    public var custom: [CustomMatch] = []
    let head: HeadPlan
    private(set) var body: BodyPlan
    private let ordersParts: Bool

    /// Method, URL with its query in any order, and the body by its kind.
    public static let standard = MatchRules(Draft.standard, MatchRuleTexts())

    /// The names of the standard rules.
    public static let standardNames = ["method", "url", "body"]

    public init(_ texts: MatchRuleTexts) throws(MatchRuleError) {
        let count = (texts.match?.count ?? 0) + texts.ignore.count + texts.patterns.count
        guard count <= Self.ruleLimit else {
            throw MatchRuleError(.tooMany, "there are \(count) match rules, more than the \(Self.ruleLimit) that are read; leave some out")
        }
        var draft = Draft()
        if let match = texts.match {
            try draft.add(match)
        } else {
            draft = .standard
        }
        for text in texts.ignore { draft.ignore(try MatchPlace(text)) }
        for text in texts.patterns {
            let pattern = try PlacePattern(text)
            if !draft.patterns.contains(pattern) { draft.patterns.append(pattern) }
        }
        let pointers = draft.ignored.count { $0.isJSON } + draft.patterns.count { $0.place.isJSON }
        guard pointers <= PointerSet.limit else {
            throw MatchRuleError(
                .tooMany,
                "there are \(pointers) rules for JSON pointers, more than the \(PointerSet.limit) that are read; write \"*\" for segments that vary"
            )
        }
        self.init(draft, texts)
    }

    public init(match: [String]? = nil, ignore: [String] = [], patterns: [String] = []) throws(MatchRuleError) {
        try self.init(MatchRuleTexts(match: match, ignore: ignore, patterns: patterns))
    }

    private init(_ draft: Draft, _ texts: MatchRuleTexts) {
        self.rules = draft.rules
        self.ignored = draft.ignored
        self.patterns = draft.patterns
        self.texts = texts
        self.head = HeadPlan(rules: draft.rules, ignored: draft.ignored, patterns: draft.patterns)
        self.ordersParts = draft.ordersParts
        self.body = BodyPlan(
            rules: draft.rules, ordersParts: draft.ordersParts, ignored: draft.ignored, patterns: draft.patterns)
        self.isStandardHead = self.head.isStandard
    }

    /// These rules with others laid over them: `match` replaces, the rest adds.
    public func adding(_ other: MatchRuleTexts) throws(MatchRuleError) -> MatchRules {
        guard !other.isEmpty else { return self }
        var rules = try MatchRules(self.texts.adding(other))
        rules.custom = self.custom
        return rules
    }

    /// These rules, where recorded values have marks that live ones may not have.
    func keepingWholeValues() -> MatchRules {
        var rules = self
        rules.body = BodyPlan(
            rules: self.rules, ordersParts: self.ordersParts, ignored: self.ignored, patterns: self.patterns, keepsWholeValues: true)
        return rules
    }

    /// Whether bodies have to be compared (`BodyFacets`).
    public var looksAtBody: Bool { self.body.match != nil }
    /// Whether header fields are compared.
    public var looksAtHeaders: Bool { !self.head.headers.isEmpty }
    /// Whether a body's facets hold a part of the URL, so that requests without bodies have to be compared by facets too.
    public var movesQueryToBody: Bool { self.body.isGraphQL }
    /// Whether the head is compared as by the standard rules.
    public let isStandardHead: Bool

    /// Rules being put together.
    private struct Draft {
        var rules: [MatchRule] = []
        var ordersParts = false
        var ignored: [MatchPlace] = []
        var patterns: [PlacePattern] = []

        static let standard: Draft = {
            var draft = Draft()
            draft.rules = [.method] + Self.url + [.body(.byKind)]
            return draft
        }()

        private static let url: [MatchRule] = [.scheme, .host, .port, .path, .query(ordered: false)]

        mutating func add(_ names: [String]) throws(MatchRuleError) {
            guard !names.isEmpty else {
                throw MatchRuleError(
                    .unknownRule, "\"match\" names no rule, so that every request would be equal; write \"method\" at least")
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
                throw MatchRuleError(.unknownRule, "\"part-order\" has no parts to order, as bodies are not compared; add \"body\"")
            }
        }

        private mutating func addOther(_ name: String) throws(MatchRuleError) {
            if name.hasPrefix("header:") { return self.add(.header(try MatchPlace.fieldName(String(name.dropFirst(7))))) }
            if name.hasPrefix("body:"), let match = BodyMatch(rawValue: String(name.dropFirst(5))) { return try self.add(match) }
            throw MatchRuleError(
                .unknownRule,
                "\"\(PlainText.escape(name.utf8, limit: 80))\" is no match rule; write method, scheme, host, port, path, query, query-order, url, header:NAME, body, body:bytes, body:json, body:form, body:multipart, body:text, part-order or graphql"
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
            if !self.ignored.contains(place) { self.ignored.append(place) }
        }
    }
}

extension MatchPlace {
    fileprivate var isJSON: Bool { if case .json = self { true } else { false } }

    /// Whether the place is all that a rule compares.
    fileprivate func isAll(of rule: MatchRule) -> Bool {
        switch (self, rule) {
        case (.method, .method), (.scheme, .scheme), (.host, .host), (.port, .port), (.path, .path), (.query, .query): true
        case (.body, .body), (.body, .graphQL): true
        case (.header(let name), .header(let other)): name == other
        case (_, _): false
        }
    }
}

/// A rule of the API's user, asked last: a closure that compares two requests.
///
/// Runs for each recorded request that all other rules find equal, on any thread, and must give the same answer every time.
public struct CustomMatch: Sendable {
    /// For reports.
    public let name: String
    /// Nil where the requests are equal, else a sentence on why not.
    public let difference: @Sendable (_ recorded: MatchedRequest, _ live: MatchedRequest) -> String?

    public init(_ name: String, _ difference: @escaping @Sendable (_ recorded: MatchedRequest, _ live: MatchedRequest) -> String?) {
        self.name = name
        self.difference = difference
    }
}

extension MatchRules {
    /// The part of a request's key that its head gives: `METHOD scheme://host:port/path?query` with the normalised URL and its query
    /// sorted, and behind it a line feed and `name: value` for each field that is compared. What is not compared is `*` or not there;
    /// placeholders are marks (`MatchMark`).
    ///
    /// Lends the bytes without keeping them: no allocation below a kilobyte for the standard rules.
    public func withHeadKey<Result>(
        method: UnsafeRawBufferPointer, url: UnsafeRawBufferPointer, headers: HeaderFields?, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        let prefix = method.count + 1
        return withUnsafeTemporaryAllocation(byteCount: prefix + url.count + 1, alignment: 1) { output in
            output.copyBytes(from: method)
            output[method.count] = UInt8(ascii: " ")
            let length = URLNormalizer.write(url, to: UnsafeMutableRawBufferPointer(rebasing: output[prefix...]))
            let marked = MatchMark.replacePlaceholders(in: UnsafeMutableRawBufferPointer(rebasing: output[..<(prefix + length)]))
            let key = UnsafeMutableRawBufferPointer(rebasing: output[..<marked])
            guard self.isStandardHead else {
                return HeadKeyWriter(self.head, UnsafeRawBufferPointer(key), methodEnd: method.count).key(headers).withUnsafeBytes(body)
            }
            let mark = ByteScan.index(of: UInt8(ascii: "?"), in: UnsafeRawBufferPointer(key), from: min(prefix, marked))
            if mark < marked { QuerySorter.sort(UnsafeMutableRawBufferPointer(rebasing: key[(mark + 1)...])) }
            return body(UnsafeRawBufferPointer(key))
        }
    }

    public func withHeadKey<Result>(
        method: String, url: String, headers: HeaderFields?, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        var method = method
        var url = url
        return method.withUTF8 { method in
            url.withUTF8 { url in
                self.withHeadKey(method: UnsafeRawBufferPointer(method), url: UnsafeRawBufferPointer(url), headers: headers, body)
            }
        }
    }
}
