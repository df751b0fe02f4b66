internal import CassetteModel
internal import NIOCore
internal import TapeBytes
internal import TapeExchange
internal import TapeTLS
internal import TapeTrust

/// What the tunnels of one server need to be looked into: the authority, the leaves it minted, and the server's end of TLS.
///
/// Shared by all event loops: a host has the same leaf on each of them, and a ticket of one resumes on every other.
final class Interception: Sendable {
    /// What becomes of a tunnel.
    enum Choice {
        case intercept, passThrough, refuse
    }

    let settings: TLSSettings
    let magic: MagicAuthority
    private let lock = Guarded(())
    // SAFETY: used with the lock held alone.
    private nonisolated(unsafe) let leaves: LeafStore
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
        let now = self.now
        return self.lock.withLock { _ in self.leaves.leaf(host: host, serverName: serverName, now: now) }
    }

    /// Mints a leaf, which holds up the other loops that need one for a tenth of a millisecond; or takes the one that another
    /// connection has had minted meanwhile.
    func mint(host: String, serverName: String?, upstreamNames: [String]) throws(CertificateError) -> Leaf {
        let now = self.now
        let result = self.lock.withLock { _ in
            Result { () throws(CertificateError) in
                if let leaf = self.leaves.leaf(host: host, serverName: serverName, now: now) { return leaf }
                return try self.leaves.mint(host: host, serverName: serverName, upstreamNames: upstreamNames, now: now)
            }
        }
        return try result.get()
    }

    private var now: Int64 { self.clock.now.microseconds / 1_000_000 }
}
