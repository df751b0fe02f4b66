public import TapeBytes

/// Why a message stopped before its framed end.
public struct Cut: Sendable, Hashable {
    public enum Party: String, Sendable, Hashable, CaseIterable {
        case client, origin, recorder
    }

    /// Who ended it.
    public var by: Party
    /// In plain words, for people.
    public var reason: String
    public var unknown: [UnknownMember]

    public init(by: Party, reason: String, unknown: [UnknownMember] = []) {
        self.by = by
        self.reason = reason
        self.unknown = unknown
    }
}
