public import CassetteModel
public import CassettePlayback

/// Why an exchange came to no answer, or to none that is whole.
///
/// Kinds are the same on every platform and in a cassette; codes of `URLError` differ from system to system.
public struct TransportFailure: Error, Sendable {
    public enum Kind: Sendable, Hashable {
        /// As recorded, or as it happened.
        case network(Failure.Kind)
        /// Nothing recorded answers the request.
        case noMatch(MissReport)
        /// What was recorded cannot be given.
        case unserved(UnservedAnswer)
        /// The transport cannot do what was asked for, or the process would die of it.
        case unsupported
        /// The body of the request could not be read.
        case body
    }

    public var kind: Kind
    /// What happened to which request, and what to do next.
    public var message: String
    /// What the system said, if it did.
    public var underlying: (any Error)?

    public init(_ kind: Kind, _ message: String, underlying: (any Error)? = nil) {
        self.kind = kind
        self.message = message
        self.underlying = underlying
    }

    public static func cancelled(_ message: String = "the request was cancelled") -> Self { Self(.network(.cancelled), message) }
}
