internal import CassetteModel
internal import CassettePlayback
internal import NIOCore
internal import TapeBytes
internal import TapeExchange
internal import TapeRecorder
internal import TapeTLS

/// One session on one event loop: the cassette, recorder and counts that it shares with the other loops, and its own connections to
/// origins.
///
/// Not Sendable: lives on its event loop.
final class ProxyContext {
    /// Shared with the other sessions of the event loop.
    let shared: ProxyLoop
    /// Shared with the session's other event loops.
    let common: SharedSession
    let configuration: ProxyConfiguration
    /// nil if nothing is recorded.
    let recorder: (any ExchangeSink)?
    /// nil if nothing is replayed.
    let library: ReplayLibrary?
    /// Makes connections to origins.
    let dialing: any Dialing
    let pool: UpstreamPool
    let log: ProxyLog
    private let counts: Guarded<ProxyCounts>
    let messageLimits = Limits()
    /// The client connections of this session.
    let members = ConnectionRegistry()
    /// `HOST:PORT` on which the proxy listens, for its own pages.
    private(set) var address = ""
    private var waiting: [ObjectIdentifier: () -> Void] = [:]
    /// The recorder's queue is full, so connections stop reading.
    private(set) var isRecorderFull = false
    private(set) var isStopping = false
    private var stopped: EventLoopPromise<Void>?
    private var grace: Scheduled<Void>?

    /// Decides on requests that arrive now.
    var session: CassetteSession { self.common.session }

    /// - Parameter dialing: nil dials the origins.
    init(shared: ProxyLoop, common: SharedSession, dialing: (any Dialing)? = nil) {
        self.shared = shared
        self.common = common
        self.log = common.log
        self.configuration = common.configuration
        self.recorder = common.recorder
        self.library = common.cassette.map {
            ReplayLibrary(
                loop: shared.loop, cassette: $0, disk: shared.disk, cache: common.cache, refresh: common.configuration.refresh)
        }
        self.pool = UpstreamPool(limits: shared.limits, clock: shared.clock, substitutes: common.substitutes, log: common.log)
        self.dialing =
            dialing
            ?? DirectDialing(
                shared: shared, pool: self.pool, diagnosis: common.diagnosis, log: common.log, nextID: common.nextUpstream)
        self.counts = common.makeCounts()
        shared.add(self.pool)
    }

    var loop: any EventLoop { self.shared.loop }
    var loopGate: LoopGate { self.shared.loopGate }
    var dialer: UpstreamDialer { self.shared.dialer }
    var flushes: FlushQueue { self.shared.flushes }
    var disk: WorkPool { self.shared.disk }
    var computing: WorkPool { self.shared.computing }
    var interception: Interception? { self.shared.interception }
    var limits: ProxyLimits { self.shared.limits }
    /// Nil if no rules change the traffic.
    var rules: SessionRules? { self.common.rules }
    var diagnosis: Diagnosis { self.common.diagnosis }
    var now: NIODeadline { self.shared.now }

    func readClock() { self.shared.readClock() }

    /// The deadline of a client that does nothing from now on.
    var stallDeadline: NIODeadline { self.now + .seconds(Int64(self.limits.clientStall)) }

    func timestamp(at instant: NIODeadline) -> Timestamp { self.shared.timestamp(at: instant) }

    /// Sets the address that clients use for this session.
    func listens(on host: String, port: Int) {
        self.address = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    func listens(at address: String) { self.address = address }

    // MARK: Client connections

    func add(_ member: any TimedConnection) { self.members.add(member) }

    /// A client connection has closed or has moved to another session.
    func remove(_ member: any TimedConnection) {
        self.members.remove(member)
        if self.isStopping, self.members.count == 0 { self.endStop() }
    }

    /// Closes idle connections now and busy ones after their exchange, but no later than the end of the grace period.
    func stop(then done: EventLoopPromise<Void>) {
        self.isStopping = true
        self.stopped = done
        self.pool.closeAll()
        self.dialing.stop()
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

    /// The information about this run that the magic host shows.
    var magicStatus: MagicStatus {
        let counts = self.common.totalCounts
        return MagicStatus(
            mode: self.session.mode, records: self.recorder != nil, replays: self.session.looksUp,
            cassette: self.configuration.cassetteName,
            address: self.address, exchanges: counts.exchanges + counts.replayed, recorded: self.recorder == nil ? 0 : counts.exchanges,
            replayed: counts.replayed, misses: counts.misses, tlsFailures: counts.tlsFailures, authority: self.interception?.magic)
    }

    func count(_ change: (inout ProxyCounts) -> Void) {
        self.counts.withLock { change(&$0) }
    }

    // MARK: The recorder

    /// Hands an item to the recorder.
    func record(_ item: RecorderItem) {
        guard let recorder else { return }
        guard recorder.put(item), !self.isRecorderFull else { return }
        self.isRecorderFull = true
        self.log.recorderFull()
        self.common.recorderFilled()
    }

    /// Another loop has filled the queue. Checks again, because the queue may have drained before this call, and then nothing would reset
    /// the flag.
    func recorderFilled() {
        if self.recorder?.isFull == true { self.isRecorderFull = true }
    }

    /// Whether messages of conversations have to wait for the recorder.
    var isRecorderBusy: Bool { self.isRecorderFull || self.recorder?.isBusy() == true }

    /// Calls back when the recorder has drained. Keeps one callback per owner.
    func whenRecorderDrains(_ owner: AnyObject, _ call: @escaping () -> Void) {
        self.waiting[ObjectIdentifier(owner)] = call
    }

    func recorderDrained() {
        // The queue has filled up again since this drain. The next drain calls again.
        guard self.recorder?.isFull != true else { return }
        if self.isRecorderFull { self.log.recorderDrained() }
        self.isRecorderFull = false
        let calls = self.waiting.values
        self.waiting = [:]
        for call in calls { call() }
    }
}
