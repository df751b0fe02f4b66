internal import NIOCore
internal import TapeCore
internal import TapeExchange

/// What all sessions of one event loop share: the clock, every client connection, the way to origins, and the authority behind tunnels.
///
/// Knows no cassette: see `ProxyContext`. Not Sendable: lives on its event loop.
final class ProxyLoop {
    let loop: any EventLoop
    let limits: ProxyLimits
    let dialer: UpstreamDialer
    let flushes: FlushQueue
    let disk: DiskPool
    /// Everything with a deadline, of all sessions.
    let registry = ConnectionRegistry()
    /// Whether the event loop still runs: what other threads hand to it goes through `LoopDoor`.
    let door: LoopDoor
    /// Nil where tunnels are passed through unread.
    let interception: Interception?
    let upstreamTLS: UpstreamTLSSource
    private let wallClock: WallClock
    private var trimRule = TrimRule()
    private var pools: [ObjectIdentifier: UpstreamPool] = [:]
    private var timer: RepeatedTask?
    let clock: EventClock
    private var lastClientID = 0

    init(
        loop: any EventLoop, limits: ProxyLimits, tls: TLSSettings?, dialer: UpstreamDialer, disk: DiskPool, wallClock: WallClock = WallClock()
    ) throws {
        self.loop = loop
        self.clock = EventClock(loop: loop)
        self.disk = disk
        self.wallClock = wallClock
        self.limits = limits
        self.dialer = dialer
        self.door = LoopDoor(loop)
        self.flushes = FlushQueue(loop: loop)
        self.interception = try tls.map { try Interception($0, clock: wallClock) }
        self.upstreamTLS = UpstreamTLSSource(tls)
    }

    /// The time of the event that is being handled.
    var now: NIODeadline { self.clock.now }

    func readClock() { self.clock.read() }

    func timestamp(at instant: NIODeadline) -> Timestamp { self.wallClock.timestamp(at: instant) }

    /// The number of a client connection.
    func nextClientID() -> Int {
        self.lastClientID += 1
        return self.lastClientID
    }

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

    /// What has waited too long ends.
    private func tick() {
        self.readClock()
        self.clock.follow()
        self.registry.sweep(now: self.now)
        for pool in self.pools.values { pool.sweep(now: self.now) }
        if self.trimRule.isDue(count: self.registry.count) { FreeMemory.giveBackSoon() }
    }

    /// Has the pool's connections end with their time, until it is removed.
    func add(_ pool: UpstreamPool) { self.pools[ObjectIdentifier(pool)] = pool }

    func remove(_ pool: UpstreamPool) { self.pools[ObjectIdentifier(pool)] = nil }
}
