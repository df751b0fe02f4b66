internal import TapeBytes
internal import TapeExchange
public import TapeTLS
public import TapeTrust

/// How a proxy intercepts TLS: its authority, the hosts it leaves alone, and which origins it trusts.
public struct TLSSettings: Sendable {
    /// The authority that signs for every host.
    public enum Authority: Sendable {
        /// A certificate, which may be followed by those that lead to a root, and its key.
        case pem(certificate: [UInt8], key: [UInt8])
        case loaded(LoadedAuthority)

        /// - Parameter now: seconds since 1970.
        func load(now: Int64) throws(CertificateError) -> CertificateAuthority {
            switch self {
            case .pem(let certificate, let key): try CertificateAuthority(certificatePEM: certificate, keyPEM: key, now: now)
            case .loaded(let loaded): loaded.authority.shared()
            }
        }
    }

    /// The trust evaluation for origins of some hosts.
    public struct TrustRule: Sendable {
        public var hosts: HostPattern
        public var trust: ServerTrust

        public init(hosts: HostPattern, trust: ServerTrust) {
            self.hosts = hosts
            self.trust = trust
        }
    }

    /// The client certificate for those hosts' origins that request one.
    public struct IdentityRule: Sendable {
        public var hosts: HostPattern
        public var identity: ClientIdentity

        public init(hosts: HostPattern, identity: ClientIdentity) {
            self.hosts = hosts
            self.identity = identity
        }
    }

    public var authority: Authority
    /// A time at which the leaves have to be valid, in seconds since 1970; nil for now. The authority has to be valid then, too.
    public var leafTime: Int64?
    /// Hosts whose tunnels are passed through without interception.
    public var passthrough: [HostPattern]
    /// Hosts to which no tunnel is opened.
    public var refused: [HostPattern]
    /// The lowest version allowed for clients.
    public var clientMinimum: TLSVersion
    /// Which clients are answered with HTTP/2, of those that offer it.
    public var clientHTTP2 = ClientHTTP2.mirror
    /// The lowest version allowed for origins.
    public var upstreamMinimum: TLSVersion
    /// Paths of PEM files with roots that are trusted in addition to the system's.
    public var upstreamRoots: [String]
    /// The first matching rule applies, or the default evaluation if none matches.
    public var trust: [TrustRule]
    /// The first matching rule applies.
    public var identities: [IdentityRule]
    /// Logs the secrets of both connections: client and origin.
    public var keyLog: KeyLog?

    public init(
        authority: Authority, passthrough: [HostPattern] = [], refused: [HostPattern] = [],
        clientMinimum: TLSVersion = .tls12, upstreamMinimum: TLSVersion = .tls12, upstreamRoots: [String] = [], trust: [TrustRule] = [],
        identities: [IdentityRule] = [], keyLog: KeyLog? = nil
    ) {
        self.authority = authority
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

/// Which clients are answered with HTTP/2, of those that offer it in their handshake (RFC 7301).
public enum ClientHTTP2: String, Sendable, Hashable, CaseIterable {
    /// Those whose origin speaks it. In a replay, those whose origin spoke it when it was recorded.
    case mirror
    /// All.
    case always
    /// None.
    case never
}

extension PeerPolicy {
    /// The same policy as a type of TapeTLS.
    init(_ trust: ServerTrust) {
        switch trust {
        case .defaultEvaluation(let validatesHost):
            self = .defaultEvaluation(validatesHost: validatesHost)
        case .pinnedCertificates(let certificates, let validatesChain, let validatesHost):
            self = .pinnedCertificates(certificates, validatesChain: validatesChain, validatesHost: validatesHost)
        case .pinnedPublicKeys(let digests, let validatesChain, let validatesHost):
            self = .pinnedPublicKeys(digests, validatesChain: validatesChain, validatesHost: validatesHost)
        case .disabled:
            self = .disabled
        case .custom(let evaluate):
            self = .custom(evaluate)
        }
    }
}

/// The client side of TLS for all sessions and event loops of one server. Created on first use, because reading the roots takes time.
final class UpstreamTLSSource: Sendable {
    private let settings: TLSSettings?
    private let made = Guarded<UpstreamTLS?>(nil)

    /// - Parameter settings: nil if HTTPS is not intercepted.
    init(_ settings: TLSSettings?) {
        self.settings = settings
    }

    func get() throws(TLSFailure) -> UpstreamTLS {
        guard let settings else { throw TLSFailure(cause: .other, message: "this proxy was started without TLS") }
        // Held while files are read, because another loop that needs the roots has to wait for them anyway.
        let result = self.made.withLock { made -> Result<UpstreamTLS, TLSFailure> in
            if let made { return .success(made) }
            let result = Result { () throws(TLSFailure) in try UpstreamTLS(settings) }
            made = try? result.get()
            return result
        }
        return try result.get()
    }
}

/// Makes the client side of TLS for upstream connections, according to the rules for their hosts.
///
/// Keeps no TLS sessions to resume; the caller caches them. Immutable, so all event loops share one.
final class UpstreamTLS: Sendable {
    private let settings: TLSSettings
    private let context: TLSClientContext

    init(_ settings: TLSSettings) throws(TLSFailure) {
        self.settings = settings
        self.context = try TLSClientContext(
            minimum: settings.upstreamMinimum, roots: settings.upstreamRoots, keyLog: settings.keyLog)
    }

    func connection(_ route: UpstreamRoute, sessions: TLSSessionCache) throws(TLSFailure) -> TLSConnection {
        let origin = route.origin
        let trust = self.settings.trust.first { $0.hosts.matches(host: route.verifiedHost, port: origin.port) }
        let identity = self.settings.identities.first { $0.hosts.matches(host: route.verifiedHost, port: origin.port) }
        let peer = TLSPeer(
            host: route.verifiedHost, serverName: route.serverName, protocols: route.protocols,
            policy: trust.map { PeerPolicy($0.trust) } ?? .defaultEvaluation(), identity: identity?.identity,
            sessionKey: "\(origin.authority) \(route.serverName ?? "") \(route.protocols.joined(separator: ","))")
        return try TLSConnection(client: self.context, peer: peer, sessions: sessions)
    }
}
