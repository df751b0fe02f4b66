internal import NIOConcurrencyHelpers
internal import NIOCore
internal import TapeCore
internal import TapeExchange
internal import TapeRecorder

/// The proxy as the connections of one session see it: the session with its cassette, recorder and counts, and its own connections to
/// origins.
///
/// Not Sendable: lives on its event loop.
final class ProxyContext {
    /// What other sessions of the event loop use as well.
    let shared: ProxyLoop
    let configuration: ProxyConfiguration
    let session: CassetteSession
    /// Nil where nothing is recorded.
    let recorder: (any ExchangeSink)?
    /// Nil where nothing is replayed.
    let library: ReplayLibrary?
    /// Makes connections to origins.
    let dialing: any Dialing
    let diagnosis: Diagnosis
    let pool: UpstreamPool
    let counts: NIOLockedValueBox<ProxyCounts>
    let messageLimits = Limits()
    /// The client connections that are with this session.
    let members = ConnectionRegistry()
    /// Host and port the proxy listens on, for its help page.
    private(set) var address = ""
    private var waiting: [ObjectIdentifier: () -> Void] = [:]
    /// The recorder's queue is full: nobody reads.
    private(set) var isRecorderFull = false
    private(set) var isStopping = false
    private var stopped: EventLoopPromise<Void>?
    private var grace: Scheduled<Void>?

    init(
        shared: ProxyLoop, configuration: ProxyConfiguration, session: CassetteSession, recorder: (any ExchangeSink)?, library: ReplayLibrary?,
        counts: NIOLockedValueBox<ProxyCounts>, dialing: (any Dialing)? = nil, notice: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.shared = shared
        self.configuration = configuration
        self.session = session
        self.recorder = recorder
        self.library = library
        self.diagnosis = Diagnosis(counts: counts, notice: notice)
        self.pool = UpstreamPool(limits: shared.limits, clock: shared.clock)
        self.dialing = dialing ?? DirectDialing(shared: shared, pool: self.pool, diagnosis: self.diagnosis)
        self.counts = counts
        shared.add(self.pool)
    }

    var loop: any EventLoop { self.shared.loop }
    var door: LoopDoor { self.shared.door }
    var dialer: UpstreamDialer { self.shared.dialer }
    var flushes: FlushQueue { self.shared.flushes }
    var disk: DiskPool { self.shared.disk }
    var interception: Interception? { self.shared.interception }
    var limits: ProxyLimits { self.shared.limits }
    var now: NIODeadline { self.shared.now }

    func readClock() { self.shared.readClock() }

    /// When a client that does nothing from now on has stalled.
    var stallDeadline: NIODeadline { self.now + .seconds(Int64(self.limits.clientStall)) }

    func timestamp(at instant: NIODeadline) -> Timestamp { self.shared.timestamp(at: instant) }

    /// Clients reach the session there.
    func listens(on host: String, port: Int) {
        self.address = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    func listens(at address: String) { self.address = address }

    // MARK: Client connections

    func add(_ member: any TimedConnection) { self.members.add(member) }

    /// A client connection is gone, or with another session.
    func remove(_ member: any TimedConnection) {
        self.members.remove(member)
        if self.isStopping, self.members.count == 0 { self.endStop() }
    }

    /// Ends idle connections now and busy ones with their exchange, at the latest after the grace period.
    func stop(then done: EventLoopPromise<Void>) {
        self.isStopping = true
        self.stopped = done
        self.pool.closeAll()
        for member in self.members.all { member.stop() }
        guard self.members.count > 0 else { return self.endStop() }
        self.grace = self.loop.assumeIsolated().scheduleTask(in: .seconds(Int64(self.limits.grace))) {
            for member in self.members.all { member.abort() }
            self.endStop()
        }
    }

    private func endStop() {
        guard let stopped else { return }
        self.stopped = nil
        self.grace?.cancel()
        self.grace = nil
        self.pool.closeAll()
        self.shared.remove(self.pool)
        stopped.succeed()
    }

    // MARK: Counts

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

    // MARK: The recorder

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
