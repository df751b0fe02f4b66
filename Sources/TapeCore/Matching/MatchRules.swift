/// The rules by which a live request is taken for a recorded one: all must find the two equal.
///
/// Knows the grammar of rules. Comparing is the head key's and `BodyFacets`'.
public struct MatchRules: Sendable {
    /// Without duplicates.
    public private(set) var rules: [MatchRule]
    public private(set) var ignored: [MatchPlace]
    public private(set) var patterns: [PlacePattern]
    /// Only a program can add these.
    public var custom: [CustomMatch] = []
    /// What the rules were made of.
    public private(set) var texts: MatchRuleTexts
    /// Whether the order of parts counts.
    public private(set) var ordersParts = false

    /// Method, URL with its query in any order, and the body by its kind.
    public static let standard = MatchRules()

    private init() {
        self.rules = [.method, .scheme, .host, .port, .path, .query(ordered: false), .body(.byKind)]
        self.ignored = []
        self.patterns = []
        self.texts = MatchRuleTexts()
    }

    public init(_ texts: MatchRuleTexts) throws(MatchRuleError) {
        self.init()
        self.texts = texts
    }

    public init(match: [String], ignore: [String] = [], patterns: [String] = []) throws(MatchRuleError) {
        try self.init(MatchRuleTexts(match: match, ignore: ignore, patterns: patterns))
    }

    /// These rules with others laid over them: `match` replaces, the rest adds.
    public func adding(_ other: MatchRuleTexts) throws(MatchRuleError) -> MatchRules {
        self
    }

    /// Whether bodies have to be compared (`BodyFacets`).
    public var looksAtBody: Bool { true }
    /// Whether header fields are compared.
    public var looksAtHeaders: Bool { false }
    /// Whether a body's facets hold a part of the URL, so that requests without bodies have to be compared by facets too.
    public var movesQueryToBody: Bool { false }
    /// Whether the head is compared as by the standard rules.
    public var isStandardHead: Bool { true }
}
