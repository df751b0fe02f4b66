public import TapeBytes

/// A transport error that took the place of a response; replayed as the same error.
public struct Failure: Sendable, Hashable {
    /// Platform-neutral kinds, so that a failure recorded on one system replays on another.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case dns, refused, unreachable, reset, timeout, tls, truncated, cancelled, malformed
    }

    public var kind: Kind
    /// In plain words, for people.
    public var message: String
    public var unknown: [UnknownMember]

    public init(kind: Kind, message: String, unknown: [UnknownMember] = []) {
        self.kind = kind
        self.message = message
        self.unknown = unknown
    }
}
