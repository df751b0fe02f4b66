internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix
internal import TapeCore
internal import TapeExchange

/// What all connections of one event loop share.
///
/// Not Sendable: lives on its event loop.
final class ProxyContext {
    let loop: any EventLoop
    let configuration: ProxyConfiguration
    let session: Session
    /// Nil where nothing is recorded.
    let recorder: Recorder?
    /// Nil where nothing is replayed.
    let library: ReplayLibrary?
    let dialer: UpstreamDialer
    /// Threads that may wait for the disk.
    let threads: NIOThreadPool
    let connector: UpstreamConnector
    /// Nil where tunnels are passed through unread.
    let interception: Interception?
    let diagnosis: Diagnosis
    let pool: UpstreamPool
    let flushes: FlushQueue
    let registry = ConnectionRegistry()
    let credentials: ProxyCredentials?
    let counts: NIOLockedValueBox<ProxyCounts>
    /// Whether the event loop still runs: what other threads hand to it goes through `LoopDoor`.
    let door: LoopDoor
    let messageLimits = Limits()
    /// Host and port the proxy listens on, for its help page.
    private(set) var address = ""
    private let clock = WallClock()
    private var trimRule = TrimRule()
    private var waiting: [ObjectIdentifier: () -> Void] = [:]
    /// The recorder's queue is full: nobody reads.
    private(set) var isRecorderFull = false
    private(set) var isStopping = false
    private var stopped: EventLoopPromise<Void>?
    private var timer: RepeatedTask?

    init(
        loop: any EventLoop, configuration: ProxyConfiguration, credentials: ProxyCredentials?, session: Session, recorder: Recorder?,
        library: ReplayLibrary?, dialer: UpstreamDialer, threads: NIOThreadPool, counts: NIOLockedValueBox<ProxyCounts>,
        notice: @escaping @Sendable (String) -> Void = { _ in }
    ) throws {
        self.loop = loop
        self.now = loop.now
        self.door = LoopDoor(loop)
        self.configuration = configuration
        self.credentials = credentials
        self.session = session
        self.recorder = recorder
        self.library = library
        self.dialer = dialer
        self.threads = threads
        self.flushes = FlushQueue(loop: loop)
        self.interception = try configuration.tls.map { try Interception($0) }
        self.diagnosis = Diagnosis(counts: counts, notice: notice)
        self.connector = UpstreamConnector(
            loop: loop, limits: configuration.limits, dialer: dialer, flushes: self.flushes, settings: configuration.tls,
            diagnosis: self.diagnosis)
        self.pool = UpstreamPool(limits: configuration.limits)
        self.counts = counts
    }

    /// The proxy listens now.
    func listens(on host: String, port: Int, own: IPAddress?, interfaces: [IPAddress]) {
        self.address = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        if let own { self.dialer.rule = LoopRule(listeningOn: own, port: port, interfaces: interfaces) }
        let bound = NIOLoopBound(self, eventLoop: self.loop)
        self.timer = self.loop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in bound.value.tick() }
    }

    /// Once a second: what has waited too long ends.
    private func tick() {
        self.readClock()
        self.registry.sweep(now: self.now)
        self.pool.sweep(now: self.now)
        if self.trimRule.isDue(count: self.registry.count) { FreeMemory.giveBackSoon() }
    }

    /// Ends idle connections now and busy ones with their exchange, at the latest after the grace period.
    func stop(then done: EventLoopPromise<Void>) {
        self.isStopping = true
        self.stopped = done
        self.pool.closeAll()
        for member in self.registry.all { member.stop() }
        self.loop.assumeIsolated().scheduleTask(in: .seconds(Int64(self.limits.grace))) {
            for member in self.registry.all { member.abort() }
            self.endStop()
        }
        self.connectionEnded()
    }

    /// A client connection is gone.
    func connectionEnded() {
        if self.isStopping, self.registry.count == 0 { self.endStop() }
    }

    private func endStop() {
        guard let stopped else { return }
        self.stopped = nil
        self.timer?.cancel()
        self.pool.closeAll()
        stopped.succeed()
    }

    /// The time of the event being handled: read once per event, since a request takes a dozen looks at it.
    private(set) var now: NIODeadline

    func readClock() { self.now = self.loop.now }

    var limits: ProxyLimits { self.configuration.limits }

    func timestamp(at instant: NIODeadline) -> Timestamp { self.clock.timestamp(at: instant) }

    /// What the magic host tells about this run.
    var magicStatus: MagicStatus {
        let counts = self.counts.withLockedValue { $0 }
        return MagicStatus(
            mode: self.session.mode, records: self.recorder != nil, replays: self.session.looksUp,
            cassette: self.configuration.cassetteName,
            address: self.address, exchanges: counts.exchanges + counts.replayed, recorded: self.recorder == nil ? 0 : counts.exchanges,
            replayed: counts.replayed, misses: counts.misses, tlsFailures: counts.tlsFailures, authority: self.interception?.magic)
    }

    func count(_ change: (inout ProxyCounts) -> Void) {
        self.counts.withLockedValue { change(&$0) }
    }

    /// Hands an item to the recorder.
    func record(_ item: RecorderItem) {
        guard let recorder else { return }
        if recorder.put(item) { self.isRecorderFull = true }
    }

    /// Calls back when the recorder has drained; one call per owner.
    func whenRecorderDrains(_ owner: AnyObject, _ call: @escaping () -> Void) {
        self.waiting[ObjectIdentifier(owner)] = call
    }

    func recorderDrained() {
        self.isRecorderFull = false
        let calls = self.waiting.values
        self.waiting = [:]
        for call in calls { call() }
    }
}
