public import TapeTLS
public import TapeTrust

/// How a proxy looks into TLS: with which authority, where not, and how it judges origins.
public struct TLSSettings: Sendable {
    /// For which hosts an origin is judged in which way.
    public struct TrustRule: Sendable {
        public var hosts: HostPattern
        public var trust: ServerTrust

        public init(hosts: HostPattern, trust: ServerTrust) {
            self.hosts = hosts
            self.trust = trust
        }
    }

    /// What origins are shown that ask for a certificate.
    public struct IdentityRule: Sendable {
        public var hosts: HostPattern
        public var identity: ClientIdentity

        public init(hosts: HostPattern, identity: ClientIdentity) {
            self.hosts = hosts
            self.identity = identity
        }
    }

    /// The authority that signs for every host, in PEM; behind its certificate may stand those that lead to a root.
    public var certificatePEM: [UInt8]
    public var keyPEM: [UInt8]
    /// Hosts whose tunnels are passed through unread.
    public var passthrough: [HostPattern]
    /// Hosts to which no tunnel is opened.
    public var refused: [HostPattern]
    /// The lowest version that clients may speak.
    public var clientMinimum: TLSVersion
    /// The lowest version that origins may speak.
    public var upstreamMinimum: TLSVersion
    /// Files in PEM with roots that are trusted beside the system's.
    public var upstreamRoots: [String]
    /// The first that matches counts; where none does, origins get the default evaluation.
    public var trust: [TrustRule]
    /// The first that matches counts.
    public var identities: [IdentityRule]
    /// Takes the secrets of both legs.
    public var keyLog: KeyLog?

    public init(
        certificatePEM: [UInt8], keyPEM: [UInt8], passthrough: [HostPattern] = [], refused: [HostPattern] = [],
        clientMinimum: TLSVersion = .tls12, upstreamMinimum: TLSVersion = .tls12, upstreamRoots: [String] = [], trust: [TrustRule] = [],
        identities: [IdentityRule] = [], keyLog: KeyLog? = nil
    ) {
        self.certificatePEM = certificatePEM
        self.keyPEM = keyPEM
        self.passthrough = passthrough
        self.refused = refused
        self.clientMinimum = clientMinimum
        self.upstreamMinimum = upstreamMinimum
        self.upstreamRoots = upstreamRoots
        self.trust = trust
        self.identities = identities
        self.keyLog = keyLog
    }
}
