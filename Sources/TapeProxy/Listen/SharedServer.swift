internal import TapeBytes
internal import TapeIsolation

/// State shared by all event loops of a server: its own ports, the connection counter, the certificate authority for intercepted tunnels
/// and the trust in origins.
///
/// Each part has its own lock, held for a few memory accesses. Minting a leaf takes a tenth of a millisecond, and the roots are read once,
/// with the first HTTPS origin.
final class SharedServer: Sendable {
    let ownPorts = OwnPorts()
    /// nil if tunnels are passed through without interception.
    let interception: Interception?
    let upstreamTLS: UpstreamTLSSource
    /// The proxies through which origins are reached.
    let chain: UpstreamChain
    /// nil unless the kernel redirects connections here.
    let transparent: Transparent?
    /// nil unless the program is isolated.
    let isolation: Isolation?
    /// One for all loops, so that exchanges recorded by different loops have a consistent order.
    let clock: WallClock
    let log: ProxyLog
    private let connectionCount = Guarded(0)
    private let lastConnection = Guarded(0)
    private let trimRule = Guarded(TrimRule())

    /// - Throws: `CertificateError` if the authority cannot sign.
    init(
        tls: TLSSettings?, log: ProxyLog = ProxyLog(), clock: WallClock = WallClock(), chain: UpstreamChain = UpstreamChain(),
        isTransparent: Bool = false, isolation: Isolation? = nil
    ) throws {
        self.isolation = isolation
        self.transparent = isTransparent ? Transparent() : nil
        self.chain = chain
        self.clock = clock
        self.interception = try tls.map { try Interception($0, clock: clock) }
        self.upstreamTLS = UpstreamTLSSource(tls)
        self.log = log
    }

    /// The next number of a client connection, unique across all loops.
    func nextConnection() -> Int {
        self.lastConnection.withLock {
            $0 += 1
            return $0
        }
    }

    /// Counts connections that were opened or closed.
    func connectionsChanged(by change: Int) { self.connectionCount.withLock { $0 += change } }

    /// Client connections on all loops.
    var connections: Int { self.connectionCount.withLock { $0 } }

    /// Returns freed memory to the system after many connections have closed. Each loop calls it once a second.
    func trimMemory() {
        let count = self.connections
        if self.trimRule.withLock({ $0.isDue(count: count) }) { FreeMemory.giveBackSoon() }
    }
}

/// Decides when enough connections have closed that their memory is worth returning: allocators otherwise keep it for the next peak.
struct TrimRule {
    /// Fewer connections than this hold little memory, at some 50 KiB each in the middle of a TLS handshake.
    static let crowd = 500

    private var peak = 0

    /// - Parameter count: the current number of connections.
    mutating func isDue(count: Int) -> Bool {
        self.peak = max(self.peak, count)
        guard self.peak >= Self.crowd, count <= self.peak / 4 else { return false }
        self.peak = count
        return true
    }
}
