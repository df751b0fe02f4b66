public import TapeBytes

/// How traffic rules changed an exchange while it was recorded.
///
/// The exchange itself has what the client sent and what the origin answered.
public struct Modification: Sendable, Hashable {
    /// Names of the rules, in the order in which they took effect.
    public var rules: [String]
    /// The absolute URL that the request was forwarded to; nil if it is the request's own.
    public var forwardedTo: String?
    /// Members that this version does not know; a rewrite keeps them.
    public var unknown: [UnknownMember]

    public init(rules: [String], forwardedTo: String? = nil, unknown: [UnknownMember] = []) {
        self.rules = rules
        self.forwardedTo = forwardedTo
        self.unknown = unknown
    }
}
