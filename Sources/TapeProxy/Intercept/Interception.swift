internal import NIOCore
internal import TapeCore
internal import TapeExchange
internal import TapeTLS

/// What the tunnels of one proxy need to be looked into: the authority, the leaves it minted, and the server's end of TLS.
///
/// Not Sendable: lives on its event loop.
final class Interception {
    /// What becomes of a tunnel.
    enum Choice {
        case intercept, passThrough, refuse
    }

    let settings: TLSSettings
    let magic: MagicAuthority
    private let leaves: LeafStore
    private let context: TLSServerContext
    private let clock: WallClock

    init(_ settings: TLSSettings, clock: WallClock = WallClock()) throws {
        let now = clock.now.microseconds / 1_000_000
        let authority = try CertificateAuthority(certificatePEM: settings.certificatePEM, keyPEM: settings.keyPEM, now: now)
        self.settings = settings
        self.clock = clock
        self.magic = try MagicAuthority(authority)
        self.leaves = try LeafStore(authority: authority)
        self.context = try TLSServerContext(minimum: settings.clientMinimum, keyLog: settings.keyLog)
    }

    func choice(host: String, port: Int) -> Choice {
        if self.settings.refused.contains(where: { $0.matches(host: host, port: port) }) { return .refuse }
        return self.settings.passthrough.contains { $0.matches(host: host, port: port) } ? .passThrough : .intercept
    }

    /// The server's end of a client's connection.
    func connection() throws(TLSFailure) -> TLSConnection { try TLSConnection(server: self.context) }

    /// A leaf that was minted before.
    func leaf(host: String, serverName: String?) -> Leaf? {
        self.leaves.leaf(host: host, serverName: serverName, now: self.now)
    }

    func mint(host: String, serverName: String?, upstreamNames: [String]) throws(CertificateError) -> Leaf {
        try self.leaves.mint(host: host, serverName: serverName, upstreamNames: upstreamNames, now: self.now)
    }

    private var now: Int64 { self.clock.now.microseconds / 1_000_000 }
}
