/// Match rules as people write them: in a cassette's head, a configuration file or options.
///
/// Nothing is checked but that the JSON has the right members; `MatchRules` does that.
public struct MatchRuleTexts: Sendable, Hashable {
    /// Names of rules; nil leaves those that were there before.
    public var match: [String]?
    public var ignore: [String]
    public var patterns: [String]

    public init(match: [String]? = nil, ignore: [String] = [], patterns: [String] = []) {
        self.match = match
        self.ignore = ignore
        self.patterns = patterns
    }

    /// Whether it says nothing at all.
    public var isEmpty: Bool { self.match == nil && self.ignore.isEmpty && self.patterns.isEmpty }
}
