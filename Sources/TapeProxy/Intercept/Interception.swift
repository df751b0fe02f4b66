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

/// A connection to an origin that may speak first: waits for its first bytes.
///
/// Not Sendable: lives on its event loop.
final class Greeting: UpstreamConnectionOwner {
    let upstream: UpstreamConnection
    private(set) var bytes = ByteBuffer()
    private var came: ((Greeting) -> Void)?
    private var ended: (() -> Void)?

    init(_ upstream: UpstreamConnection, came: @escaping (Greeting) -> Void, ended: @escaping () -> Void) {
        self.upstream = upstream
        self.came = came
        self.ended = ended
        upstream.take(self)
    }

    /// Calls back no more.
    func forget() {
        self.came = nil
        self.ended = nil
    }

    func upstreamRead(_ buffer: ByteBuffer) { self.bytes.writeImmutableBuffer(buffer) }

    func upstreamReadComplete() {
        guard self.bytes.readableBytes > 0, let came else { return }
        self.forget()
        came(self)
    }

    func upstreamEnded() {
        let ended = self.ended
        self.forget()
        ended?()
    }

    func upstreamFailed(_ failure: Failure) { self.upstreamEnded() }

    func upstreamWritabilityChanged(_ isWritable: Bool) {}
}

/// What the requests inside a tunnel that we opened ourselves are for: they name no origin, the tunnel did.
///
/// A class, so that a request carries one reference.
final class TunnelScope {
    /// Where requests go, whatever their Host fields say.
    let route: UpstreamRoute
    /// The first connection to the origin failed while the client's handshake waited: the first request gets to know.
    var failure: Failure?
    /// Called where the client leaves before it has sent anything, with what its TLS said at last; nil from its first request on.
    var leftUnused: ((TLSFailure?) -> Void)?

    init(route: UpstreamRoute, failure: Failure? = nil) {
        self.route = route
        self.failure = failure
    }

    var origin: Origin { self.route.origin }

    var isMagic: Bool { MagicHost.isNamed(self.origin.host) }
}
