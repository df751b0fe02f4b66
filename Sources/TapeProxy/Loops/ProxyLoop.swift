internal import TapeBytes
internal import CassetteModel
internal import NIOCore
internal import TapeExchange

/// What all sessions of one event loop share: its time, every client connection on it, and the way to origins.
///
/// Knows no cassette: see `ProxyContext`. Not Sendable: lives on its event loop.
final class ProxyLoop {
    let loop: any EventLoop
    let limits: ProxyLimits
    let dialer: UpstreamDialer
    let flushes: FlushQueue
    /// What the other event loops of the server use as well.
    let server: SharedServer
    let disk: DiskPool
    /// Everything with a deadline, of all sessions.
    let registry: ConnectionRegistry
    /// Whether the event loop still runs: what other threads hand to it goes through `LoopDoor`.
    let door: LoopDoor
    private var pools: [ObjectIdentifier: UpstreamPool] = [:]
    private var timer: RepeatedTask?
    private var wallClockDue = NIODeadline.uptimeNanoseconds(0)
    let clock: EventClock

    /// - Parameter door: that of the loop; nil for one of its own.
    init(
        loop: any EventLoop, limits: ProxyLimits, server: SharedServer, resolver: NameResolver, disk: DiskPool, door: LoopDoor? = nil
    ) {
        self.loop = loop
        self.clock = EventClock(loop: loop)
        self.server = server
        self.disk = disk
        self.limits = limits
        self.dialer = UpstreamDialer(loop: loop, limits: limits, resolver: resolver, own: server.ownPorts, log: server.log)
        self.door = door ?? LoopDoor(loop)
        self.flushes = FlushQueue(loop: loop)
        self.registry = ConnectionRegistry { server.connectionsChanged(by: $0) }
    }

    /// Nil if tunnels are passed through unread.
    var interception: Interception? { self.server.interception }
    var upstreamTLS: UpstreamTLSSource { self.server.upstreamTLS }
    var log: ProxyLog { self.server.log }

    /// Whether there are more client connections, on all event loops together, than there may be.
    var isOverLimit: Bool { self.server.connections > self.limits.connections }

    /// The time of the event that is being handled.
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

    /// What has waited too long ends.
    private func tick() {
        self.readClock()
        self.followWallClock()
        self.registry.sweep(now: self.now)
        for pool in self.pools.values { pool.sweep(now: self.now) }
        self.server.trimMemory()
    }

    /// Takes over what the wall clock was set forward by, as after a sleep of the machine: before each request, but not more often than this
    /// pays.
    func followWallClock() {
        guard self.now >= self.wallClockDue else { return }
        self.wallClockDue = self.now + .milliseconds(50)
        self.server.clock.follow()
    }

    /// Has the pool's connections end with their time, until it is removed.
    func add(_ pool: UpstreamPool) { self.pools[ObjectIdentifier(pool)] = pool }

    func remove(_ pool: UpstreamPool) { self.pools[ObjectIdentifier(pool)] = nil }
}
