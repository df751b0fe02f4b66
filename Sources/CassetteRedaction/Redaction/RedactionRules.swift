/// What is taken out of messages before they are kept: the standard rules, others, and exceptions from both.
///
/// Holds values of secrets, but never writes them.
public struct RedactionRules: Sendable, Hashable {
    /// Rules beside the standard ones.
    public private(set) var rules: [RedactionRule] = []
    /// Places and kinds that stay.
    public private(set) var keep: [RedactionException] = []
    public private(set) var secrets: [SecretValue] = []

    /// Rules of one cassette, and exceptions: each is work for each message.
    public static let limit = 1000

    /// What is redacted without being asked for.
    public static let standard = RedactionRules()

    private init() {}

    /// - Parameters:
    ///   - rules: `PLACE` or `PLACE=REGEX`.
    ///   - keep: `PLACE` or a kind of placeholder.
    public init(rules: [String], keep: [String] = [], secrets: [SecretValue] = []) throws(RedactionRuleError) {
        guard rules.count <= Self.limit, keep.count <= Self.limit else {
            throw RedactionRuleError("more than \(Self.limit) rules of redaction: use patterns to say more with fewer")
        }
        for text in rules { self.rules.append(try RedactionRule(text)) }
        for text in keep { self.keep.append(try RedactionException(text)) }
        for secret in secrets where secret.octets.count < NeedleIndex.lengthLimit {
            throw RedactionRuleError(
                "the value of \"\(secret.name)\" has \(secret.octets.count) octets, and only one of at least \(NeedleIndex.lengthLimit) can be looked for: leave it out of --secret-env, and name its place with --redact, as \"header:x-pin\""
            )
        }
        self.secrets = secrets
    }

    /// These rules and others: the command line's beside the cassette's.
    public func adding(_ other: RedactionRules) -> RedactionRules {
        var sum = self
        sum.rules += other.rules.filter { !self.rules.contains($0) }
        sum.keep += other.keep.filter { !self.keep.contains($0) }
        sum.secrets += other.secrets.filter { !self.secrets.contains($0) }
        return sum
    }

    /// Whether there is nothing to be written into a cassette's head.
    public var isStandard: Bool { self.rules.isEmpty && self.keep.isEmpty }
}

extension RedactionRules {
    func keeps(kind: String) -> Bool { !self.keep.isEmpty && self.keep.contains { $0.kind == kind } }

    func keeps(header name: [UInt8]) -> Bool {
        !self.keep.isEmpty && self.keep.contains { $0.place.map { Self.names($0, header: name) } ?? false }
    }

    func keeps(query name: [UInt8]) -> Bool { !self.keep.isEmpty && self.keep.contains { $0.place == .query(Self.text(name)) } }
    func keeps(form name: [UInt8]) -> Bool { !self.keep.isEmpty && self.keep.contains { $0.place == .form(Self.text(name)) } }
    func keeps(part name: String) -> Bool { !self.keep.isEmpty && self.keep.contains { $0.place == .part(name) } }

    /// The kind of what a rule names as a whole.
    func kind(header name: [UInt8]) -> String? { self.kind { Self.names($0, header: name) } }
    func kind(query name: [UInt8]) -> String? { self.kind { $0 == .query(Self.text(name)) } }
    func kind(form name: [UInt8]) -> String? { self.kind { $0 == .form(Self.text(name)) } }
    func kind(part name: String) -> String? { self.kind { $0 == .part(name) } }

    private func kind(where isMeant: (RedactionPlace) -> Bool) -> String? {
        guard !self.rules.isEmpty else { return nil }
        return self.rules.first { $0.pattern == nil && isMeant($0.place) }?.kind
    }

    private static func text(_ name: [UInt8]) -> String { String(decoding: name, as: UTF8.self) }

    private static func names(_ place: RedactionPlace, header name: [UInt8]) -> Bool {
        guard case .header(let own) = place else { return false }
        return own == self.text(name).lowercased()
    }

    /// Pointers into JSON that rules and exceptions name.
    var hasJSONPlaces: Bool {
        self.rules.contains { $0.isJSON } || self.keep.contains { $0.place.map { if case .json = $0 { true } else { false } } ?? false }
    }

    /// What the patterns for any text find.
    func patterns(in text: UnsafeRawBufferPointer) -> [Finding] {
        guard !self.rules.isEmpty else { return [] }
        return self.rules.filter { $0.place == .text }.flatMap { $0.findings(in: text) }
    }
}
