internal import TapeBytes
internal import CassetteModel
internal import NIOCore
internal import TapeExchange

/// State shared by all sessions on one event loop: its clock, every client connection on it, and the dialer.
///
/// Independent of cassettes: see `ProxyContext`. Not Sendable: lives on its event loop.
final class ProxyLoop {
    let loop: any EventLoop
    let limits: ProxyLimits
    let dialer: UpstreamDialer
    let flushes: FlushQueue
    let turns: TurnQueue
    /// Shared with the other event loops of the server.
    let server: SharedServer
    let disk: WorkPool
    /// The same, for computations that take long.
    let computing: WorkPool
    /// Everything that has a deadline, in all sessions.
    let registry: ConnectionRegistry
    /// Whether the event loop is still running. Other threads hand work to the loop through this gate.
    let loopGate: LoopGate
    private var pools: [ObjectIdentifier: UpstreamPool] = [:]
    private var timer: RepeatedTask?
    private var wallClockDue = NIODeadline.uptimeNanoseconds(0)
    let clock: EventClock

    /// - Parameters:
    ///   - computing: nil for the disk's pool.
    ///   - gate: the loop's gate; nil creates one.
    init(
        loop: any EventLoop, limits: ProxyLimits, server: SharedServer, resolver: NameResolver, disk: WorkPool,
        computing: WorkPool? = nil, loopGate: LoopGate? = nil
    ) {
        self.loop = loop
        self.clock = EventClock(loop: loop)
        self.server = server
        self.disk = disk
        self.computing = computing ?? disk
        self.limits = limits
        self.dialer = UpstreamDialer(
            loop: loop, limits: limits, resolver: resolver, own: server.ownPorts, log: server.log, transparent: server.transparent,
            isolation: server.isolation)
        self.loopGate = loopGate ?? LoopGate(loop)
        self.flushes = FlushQueue(loop: loop)
        self.turns = TurnQueue(loop: loop)
        self.registry = ConnectionRegistry { server.connectionsChanged(by: $0) }
    }

    /// nil if tunnels are passed through without interception.
    var interception: Interception? { self.server.interception }
    var upstreamTLS: UpstreamTLSSource { self.server.upstreamTLS }
    var chain: UpstreamChain { self.server.chain }
    var transparent: Transparent? { self.server.transparent }
    var log: ProxyLog { self.server.log }

    /// Whether the client connections on all event loops together exceed the limit.
    var isOverLimit: Bool { self.server.connections > self.limits.connections }

    /// The time of the current event.
    var now: NIODeadline { self.clock.now }

    func readClock() { self.clock.read() }

    func timestamp(at instant: NIODeadline) -> Timestamp { self.server.clock.timestamp(at: instant) }

    // MARK: Once a second

    func begin() {
        guard self.timer == nil else { return }
        let bound = NIOLoopBound(self, eventLoop: self.loop)
        self.timer = self.loop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in bound.value.tick() }
    }

    func end() {
        self.timer?.cancel()
        self.timer = nil
    }

    /// Ends whatever has waited too long.
    private func tick() {
        self.readClock()
        self.followWallClock()
        self.registry.sweep(now: self.now)
        for pool in self.pools.values { pool.sweep(now: self.now) }
        self.server.trimMemory()
    }

    /// Follows the wall clock if it was set forward, as after the machine slept. Runs before each request, but at most every 50 ms.
    func followWallClock() {
        guard self.now >= self.wallClockDue else { return }
        self.wallClockDue = self.now + .milliseconds(50)
        self.server.clock.follow()
    }

    /// Sweeps the pool every second until it is removed.
    func add(_ pool: UpstreamPool) { self.pools[ObjectIdentifier(pool)] = pool }

    func remove(_ pool: UpstreamPool) { self.pools[ObjectIdentifier(pool)] = nil }
}
