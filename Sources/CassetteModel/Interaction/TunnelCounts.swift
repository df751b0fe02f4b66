public import TapeBytes

/// How many bytes crossed a tunnel each way; the bytes themselves are not recorded.
public struct TunnelCounts: Sendable, Hashable {
    /// From the client to the origin.
    public var sent: Int
    /// From the origin to the client.
    public var received: Int
    public var unknown: [UnknownMember]

    public init(sent: Int, received: Int, unknown: [UnknownMember] = []) {
        self.sent = sent
        self.received = received
        self.unknown = unknown
    }
}
