internal import CassetteModel
internal import NIOCore
internal import TapeBytes
internal import TapeExchange
internal import TapeTLS
internal import TapeTrust

/// What a server needs to intercept tunnels: the certificate authority, the leaves it has minted, and the server side of TLS.
///
/// Shared by all event loops, so that a host has the same leaf on all of them and a session ticket is valid on every loop.
final class Interception: Sendable {
    /// How a tunnel is handled.
    enum Choice {
        case intercept, passThrough, refuse
    }

    let magic: MagicAuthority
    private let settings: TLSSettings
    private let lock = Guarded(())
    // SAFETY: used only while `lock` is held.
    private nonisolated(unsafe) let leaves: LeafStore
    private let context: TLSServerContext
    private let chosen = Guarded<[UpstreamRoute: String]>([:])
    private let clock: WallClock

    init(_ settings: TLSSettings, clock: WallClock = WallClock()) throws {
        let now = settings.leafTime ?? clock.now.microseconds / 1_000_000
        let authority = try settings.authority.load(now: now)
        self.settings = settings
        self.clock = clock
        self.magic = try MagicAuthority(authority)
        self.leaves = try LeafStore(authority: authority)
        self.context = try TLSServerContext(minimum: settings.clientMinimum, keyLog: settings.keyLog)
    }

    /// The protocols to offer to an origin, and those of them that the client may be answered with.
    func protocols(of hello: ClientHello) -> (dialled: [String], answerable: [String]) {
        let known = hello.protocols.filter { $0 == "http/1.1" || $0 == "h2" }
        switch self.settings.clientHTTP2 {
        case .mirror: return (known, known)
        case .always: return (known.isEmpty ? [] : ["h2", "http/1.1"], known.filter { $0 == "h2" || !known.contains("h2") })
        case .never:
            let http1 = known.filter { $0 == "http/1.1" }
            return (http1, http1)
        }
    }

    /// The protocol that the route's origin chose from those offered to it; nil if unknown.
    func chosenProtocol(of route: UpstreamRoute) -> String? { self.chosen.withLock { $0[route] } }

    func remember(chosen name: String?, of route: UpstreamRoute) {
        self.chosen.withLock { chosen in
            if chosen.count >= 4096 { chosen.removeAll() }
            chosen[route] = name
        }
    }

    func choice(host: String, port: Int) -> Choice {
        if self.settings.refused.contains(where: { $0.matches(host: host, port: port) }) { return .refuse }
        return self.settings.passthrough.contains { $0.matches(host: host, port: port) } ? .passThrough : .intercept
    }

    /// The server side of TLS for a client's connection.
    func connection() throws(TLSFailure) -> TLSConnection { try TLSConnection(server: self.context) }

    /// A leaf that has already been minted; nil if there is none.
    func leaf(host: String, serverName: String?) -> Leaf? {
        let now = self.now
        return self.lock.withLock { _ in self.leaves.leaf(host: host, serverName: serverName, now: now) }
    }

    /// Mints a leaf, unless another connection has done so in the meantime. Blocks other loops that need a leaf for about 0.1 ms.
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

    /// SHA-256 of the public key that all leaves share (RFC 7469, 2.4).
    func leafKeyDigest() throws(CertificateError) -> [UInt8] {
        try self.mint(host: MagicHost.name, serverName: nil, upstreamNames: []).certificate.summary.publicKeyDigest
    }

    private var now: Int64 { self.settings.leafTime ?? self.clock.now.microseconds / 1_000_000 }
}

/// The HTTP version negotiated with a client in its TLS handshake (RFC 7301). It is binding: other bytes are an error.
enum AgreedProtocol: Sendable {
    case http1, http2

    /// - Parameter name: the ALPN name, such as `h2`.
    init(_ name: String) { self = name == "h2" ? .http2 : .http1 }
}

/// Properties shared by the requests inside an intercepted tunnel, which determines their origin.
///
/// A class, so that a request carries one reference.
final class TunnelScope {
    /// The route of all requests, regardless of their Host fields.
    let route: UpstreamRoute
    /// Why connecting to the origin failed during the client's handshake. Reported to the first request.
    var failure: Failure?
    /// Called with the last TLS failure if the client leaves before it has sent anything; nil from the first request on.
    var leftUnused: ((TLSFailure?) -> Void)?
    /// The protocol negotiated in the TLS handshake (RFC 7301); nil if none was.
    var agreed: AgreedProtocol?
    /// The client connected by address, and names the host only in its requests.
    let isByAddress: Bool
    /// The client connected to the origin's address, and the connection was led to the proxy.
    let isLed: Bool
    /// The client asked for its tunnel by SOCKS.
    let isBySOCKS: Bool
    /// The client is an isolated program that does not use the proxy.
    let isIsolated: Bool

    /// - Parameters:
    ///   - opening: how the client opened the tunnel.
    ///   - isIsolated: the client is an isolated program.
    init(route: UpstreamRoute, failure: Failure? = nil, opening: TunnelOpening = .connect, isIsolated: Bool = false) {
        self.route = route
        self.failure = failure
        self.isLed = opening == .transparent
        self.isBySOCKS = opening == .socks
        self.isIsolated = isIsolated
        self.isByAddress = opening != .connect && IPAddress(route.origin.host) != nil
    }

    /// The same tunnel, whose requests take another route to its origin.
    init(_ tunnel: TunnelScope, route: UpstreamRoute) {
        self.route = route
        self.isLed = tunnel.isLed
        self.isBySOCKS = tunnel.isBySOCKS
        self.isIsolated = tunnel.isIsolated
        self.isByAddress = tunnel.isByAddress
    }

    /// Whether an authority is that of the tunnel or of its TLS, so that a request for it is not misdirected (RFC 9110, 7.4). A missing
    /// port matches any port. A tunnel to an address may be for any host, unless its TLS names one.
    func serves(host: String, port: Int?) -> Bool {
        guard port == nil || port == self.origin.port else { return false }
        let host = Self.withoutRoot(host)
        return host == Self.withoutRoot(self.origin.host) || host == self.route.serverName.map(Self.withoutRoot)
            || self.isByAddress && self.route.serverName == nil && IPAddress(host) == nil
            || self.isIsolated && Self.connected(to: host).map { $0 == Self.connected(to: self.origin.host) } == true
    }

    /// The address that a connection to an address has: every address of this machine leads to loopback.
    private static func connected(to host: String) -> IPAddress? {
        guard let address = IPAddress(host: host) else { return nil }
        return address.isUnspecified ? IPAddress(address.bytes.count == 4 ? "127.0.0.1" : "::1") : address
    }

    /// Removes the root label: `a.test.` equals `a.test` (RFC 1034, 3.1).
    private static func withoutRoot(_ host: String) -> String { host.hasSuffix(".") ? String(host.dropLast()) : host }

    /// Notes that a request has arrived.
    func noteUse(in diagnosis: Diagnosis) {
        guard self.leftUnused != nil else { return }
        self.leftUnused = nil
        diagnosis.clientTrusts()
    }

    var origin: Origin { self.route.origin }

    var isMagic: Bool { MagicHost.isNamed(self.origin.host) }
}
