internal import TapeExchange
internal import TapeTLS
internal import TapeTrust

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
