public import TapeBytes

/// The upstream connection that carried an exchange.
public struct ConnectionInfo: Sendable, Hashable {
    /// Counts up from 1 within one recording.
    public var id: Int
    /// Address and port of the origin, as `127.0.0.1:9000` or `[::1]:9000`.
    public var remote: String
    /// Whether an earlier exchange used the same connection.
    public var isReused: Bool
    /// Nil where the connection had no TLS, or the handshake failed before anything was agreed on.
    public var tls: TLSDetails?
    public var unknown: [UnknownMember]

    public init(id: Int, remote: String, isReused: Bool, tls: TLSDetails? = nil, unknown: [UnknownMember] = []) {
        self.id = id
        self.remote = remote
        self.isReused = isReused
        self.tls = tls
        self.unknown = unknown
    }
}
