public import TapeBytes

/// How long the phases of one exchange took, in milliseconds; nil where a phase did not happen.
///
/// The phases follow HAR 1.2: a reused connection has no `dns`, `connect` or `tls`.
public struct Timing: Sendable, Hashable {
    /// Waiting for a connection.
    public var blocked: Double?
    public var dns: Double?
    public var connect: Double?
    public var tls: Double?
    /// From the first to the last byte of the request.
    public var send: Double?
    /// From the last byte of the request to the first of the response.
    public var wait: Double?
    /// From the first to the last byte of the response.
    public var receive: Double?
    public var total: Double?
    public var unknown: [UnknownMember]

    public init(
        blocked: Double? = nil, dns: Double? = nil, connect: Double? = nil, tls: Double? = nil, send: Double? = nil,
        wait: Double? = nil, receive: Double? = nil, total: Double? = nil, unknown: [UnknownMember] = []
    ) {
        self.blocked = blocked
        self.dns = dns
        self.connect = connect
        self.tls = tls
        self.send = send
        self.wait = wait
        self.receive = receive
        self.total = total
        self.unknown = unknown
    }
}
