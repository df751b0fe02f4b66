/// What is taken out of messages before they are kept: the standard rules, others, and exceptions from both.
///
/// Holds values of secrets, but never writes them.
public struct RedactionRules: Sendable, Hashable {
    /// Rules beside the standard ones, as they were written.
    public private(set) var rules: [RedactionRule] = []
    /// Places and kinds that stay, as they were written.
    public private(set) var keep: [String] = []
    public private(set) var secrets: [SecretValue] = []

    /// Rules of one cassette: each is work for each message.
    public static let limit = 1000

    /// What is redacted without being asked for.
    public static let standard = RedactionRules()

    private init() {}

    /// - Parameters:
    ///   - rules: `PLACE` or `PLACE=REGEX`.
    ///   - keep: `PLACE` or a kind of placeholder.
    public init(rules: [String], keep: [String] = [], secrets: [SecretValue] = []) throws(RedactionRuleError) {
        self.keep = keep
        self.secrets = secrets
    }

    /// These rules and others: the command line's beside the cassette's.
    public func adding(_ other: RedactionRules) -> RedactionRules { self }
}
