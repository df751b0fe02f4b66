internal import TapeBytes
internal import TapeExchange
internal import TapeTLS
internal import TapeTrust

/// The client's end of TLS for all sessions and event loops of one server, made when it is first needed: reading roots takes its time.
final class UpstreamTLSSource: Sendable {
    private let settings: TLSSettings?
    private let made = Guarded<UpstreamTLS?>(nil)

    /// - Parameter settings: nil where HTTPS is not intercepted.
    init(_ settings: TLSSettings?) {
        self.settings = settings
    }

    func get() throws(TLSFailure) -> UpstreamTLS {
        guard let settings else { throw TLSFailure(cause: .other, message: "this proxy was started without TLS") }
        // The one lock held while files are read: another loop that needs the roots meanwhile could do nothing without them.
        let result = self.made.withLock { made -> Result<UpstreamTLS, TLSFailure> in
            if let made { return .success(made) }
            let result = Result { () throws(TLSFailure) in try UpstreamTLS(settings) }
            made = try? result.get()
            return result
        }
        return try result.get()
    }
}

/// Makes the client's end of TLS for upstream connections, by the rules for their hosts.
///
/// Keeps no TLS sessions to resume: who connects has a cache of them. Nothing in it changes, so that all event loops use one.
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
