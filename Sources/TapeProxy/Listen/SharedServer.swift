internal import TapeBytes

/// What all event loops of a server share: its own ports, the number of its connections, the authority behind tunnels and the trust in
/// origins.
///
/// Each part has its own lock, held for no longer than a few memory accesses; minting a leaf takes a tenth of a millisecond, and the
/// roots are read once, with the first HTTPS origin.
final class SharedServer: Sendable {
    let ownPorts = OwnPorts()
    /// Nil if tunnels are passed through unread.
    let interception: Interception?
    let upstreamTLS: UpstreamTLSSource
    /// One for all loops: what two of them record has one order.
    let clock: WallClock
    let log: ProxyLog
    private let connectionCount = Guarded(0)
    private let lastConnection = Guarded(0)
    private let trimRule = Guarded(TrimRule())

    /// - Throws: `CertificateError` for an authority that cannot sign.
    init(tls: TLSSettings?, log: ProxyLog = ProxyLog(), clock: WallClock = WallClock()) throws {
        self.clock = clock
        self.interception = try tls.map { try Interception($0, clock: clock) }
        self.upstreamTLS = UpstreamTLSSource(tls)
        self.log = log
    }

    /// The number of a connection from a client, unique over all loops.
    func nextConnection() -> Int {
        self.lastConnection.withLock {
            $0 += 1
            return $0
        }
    }

    /// Counts connections that came, or went.
    func connectionsChanged(by change: Int) { self.connectionCount.withLock { $0 += change } }

    /// Client connections on all loops.
    var connections: Int { self.connectionCount.withLock { $0 } }

    /// Gives freed memory back to the system after a crowd has left; asked once a second by each loop, done for one of them.
    func trimMemory() {
        let count = self.connections
        if self.trimRule.withLock({ $0.isDue(count: count) }) { FreeMemory.giveBackSoon() }
    }
}
