/// The server that a client's connection is for, and how it is judged.
public struct TLSPeer: Sendable {
    /// The host that the certificate has to be for: a name or an address.
    public var host: String
    /// What the server_name extension says; nil leaves it out, as for addresses (RFC 6066, 3).
    public var serverName: String?
    /// Application protocols to offer, the best first; empty leaves the extension out.
    public var protocols: [String]
    public var policy: PeerPolicy
    /// What we show where the server asks.
    public var identity: ClientIdentity?
    /// Names what a session was judged by: sessions are resumed within equal keys alone.
    public var sessionKey: String

    public init(
        host: String, serverName: String?, protocols: [String] = [], policy: PeerPolicy = .defaultEvaluation(),
        identity: ClientIdentity? = nil, sessionKey: String = ""
    ) {
        self.host = host
        self.serverName = serverName
        self.protocols = protocols
        self.policy = policy
        self.identity = identity
        self.sessionKey = sessionKey
    }
}
