public import CassetteModel
public import CassetteRedaction
public import CassetteStore
internal import Dispatch
internal import Platform
public import TapeBytes
internal import TapeExchange

/// Writes taped exchanges to a cassette, on a thread of its own with a bounded queue.
///
/// `put` never waits, and may be called on any thread or event loop. Opening and closing access the disk on the calling thread.
public final class Recorder: Sendable {
    /// Damage in an existing cassette that was repaired when it was opened.
    public let repaired: CassetteDamage?
    /// What happened to conversations that a killed recorder left open in an existing cassette, in sentences.
    public let recovered: [String]
    let queue: RecorderQueue
    private let status: Guarded<RecorderStatus>
    private let drained = Guarded<(@Sendable () -> Void)?>(nil)
    private let lastID: Guarded<Int>
    private let finished = DispatchSemaphore(value: 0)
    private let file: RecordingFile
    private let notify: @Sendable (String) -> Void
    private let searches: [PostponedSearch]
    /// Spent once a close has to end soon.
    private let haste = SearchBudget()

    /// Opens the cassette that the plan writes; nil if it writes none.
    ///
    /// - Parameters:
    ///   - redaction: rules added to those of an existing cassette and applied before anything is kept; nil keeps secrets.
    ///   - digest: makes a SHA-256, which names the files next to the cassette.
    ///   - refusesUnrecorded: the caller does not answer exchanges that cannot be recorded. An exchange with a waiting caller is discarded
    ///     if it cannot be written at once, and messages say that traffic is refused.
    ///   - notify: receives messages for people, when the disk is full or has space again. Called on the recorder thread and by `close`.
    public init?(
        _ plan: RecordingPlan, version: String, redaction: RedactionRules? = .standard,
        digest: @escaping @Sendable () -> any ContentDigest = { PortableSHA256() }, refusesUnrecorded: Bool = false,
        notify: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(CassetteError) {
        guard let file = try RecordingFile(plan, version: version, redaction: redaction, digest: digest) else { return nil }
        self.file = file
        self.notify = notify
        let status = Guarded(RecorderStatus())
        self.status = status
        self.queue = RecorderQueue { Self.refused($0, status) }
        self.path = file.path
        self.repaired = file.repaired
        self.recovered = file.recovered
        self.lastID = Guarded(file.lastID)
        let worker = RecorderWorker(
            file: file, queue: self.queue, status: self.status, drained: self.drained,
            options: RecorderWorker.Options(refusesUnrecorded: refusesUnrecorded), notify: notify)
        self.searches = worker.searches
        // SAFETY: created here, and used only by the thread from now on.
        nonisolated(unsafe) let handed = worker
        let finished = self.finished
        let isRunning = DedicatedThread.start {
            handed.run()
            finished.signal()
        }
        guard isRunning else {
            try file.abandon()
            throw CassetteError(
                .unwritable, "cannot create a thread to record \"\(plan.path)\": end some sessions, or raise the limit (ulimit -u).")
        }
    }

    /// The file being written. It differs from the cassette if it will replace that.
    package let path: String

    public var currentStatus: RecorderStatus { self.status.withLock { $0 } }

    /// Why the recorder cannot write; nil if it can.
    package var obstacle: RecorderProblem? { self.status.withLock { $0.obstacle } }

    /// The number of the next exchange.
    package func nextID() -> Int {
        self.lastID.withLock {
            $0 += 1
            return $0
        }
    }

    /// - Returns: whether the queue is full. If so, stop reading until `onDrain` calls back.
    package func put(_ item: RecorderItem) -> Bool { self.queue.put(item, now: MonotonicClock.now) }

    /// Handles an item put after the end: an exchange counts as lost, and its caller is notified.
    private static func refused(_ item: RecorderItem, _ status: Guarded<RecorderStatus>) {
        let stored: RecorderItem.Stored?
        switch item {
        case .exchange(_, let caller), .closed(_, let caller): stored = caller
        case .block, .opened, .message, .dropped: return
        }
        status.withLock { $0.lost += 1 }
        stored?(.failure(RecorderProblem(.ended, "the recording has ended: nothing more is written to it.")))
    }

    /// Whether the queue is still full since `put` reported it.
    package var isFull: Bool { self.queue.isFull }

    package func isBusy() -> Bool { self.queue.isBusy() }

    /// - Parameter call: called on the recorder thread whenever a full queue has room again. Replaces an earlier one.
    package func onDrain(_ call: @escaping @Sendable () -> Void) {
        self.drained.withLock { $0 = call }
    }

    /// Replaces `close` for a run that failed to start: removes an empty cassette that was created for it.
    public func abandon() throws(CassetteError) {
        self.queue.close()
        self.finished.wait()
        try self.file.abandon()
    }

    /// Replaces `close` for an unwanted recording: removes a cassette that was created for it, including its bodies, or removes the
    /// appended exchanges from an existing one.
    package func discard() throws(CassetteError) {
        for search in self.searches { search.cancel() }
        self.queue.close()
        self.finished.wait()
        try self.file.discard()
    }

    /// Makes `close` end soon by skipping unfinished searches for secrets and the decoding of raw bodies. No exchange is lost. The status
    /// lists those that were not searched; `CassetteRedaction` and `CassetteFinisher.decode` can do the rest later. May be called on any
    /// thread, before or during the close.
    public func hasten() {
        self.haste.cancel()
        for search in self.searches { search.giveUp() }
    }

    /// Writes queued items, waits for long searches, decodes raw bodies, sorts and closes the file, and searches it for remaining secrets,
    /// which are then in the status. `hasten` shortens this.
    ///
    /// - Parameters:
    ///   - keepsOld: leaves the old cassette in place, with the new one next to it. This always happens if the recording has lost exchanges
    ///     or contains secrets.
    ///   - progress: called with the number of finished exchanges.
    ///   - searching: called ten times a second with the number of exchanges whose bodies are still being searched for secrets.
    /// - Returns: the path of the recording.
    public func close(
        keepsOld: Bool, keepsEmpty: Bool = true, progress: (_ done: Int, _ of: Int) -> Void = { _, _ in },
        searching: (_ left: Int) -> Void = { _ in }
    ) throws(CassetteError) -> String {
        self.queue.close()
        while self.finished.wait(timeout: .now() + .milliseconds(100)) == .timedOut {
            let left = self.searches.reduce(0) { $0 + $1.count }
            if left > 0 { searching(left) }
        }
        let status = self.currentStatus
        defer { self.status.withLock { $0.recorded += self.file.adopted } }
        let path = try self.file.close(
            keepsOld: keepsOld || status.lost > 0, keepsEmpty: keepsEmpty, hasUndecoded: status.undecoded > 0, lost: status.lost,
            haste: self.haste, progress: progress)
        self.status.withLock {
            if let error = self.file.leftOpen { $0.firstProblem = $0.firstProblem ?? RecorderProblem(error) }
            $0.isLeftOpen = self.file.leftOpen != nil
            $0.unchecked = self.file.unchecked
            for id in self.file.finished.unsearched { $0.unsearchedExchanges.add(id, notes: [UnsearchedNote.text]) }
            $0.leaks = self.file.leaks
            $0.namedDigests = self.file.namedDigests
        }
        guard status.recorded == 0 || CassettePlace.exists(path) else { throw CassettePlace.misplacedError(path) }
        if let error = self.file.leftOpen {
            self.notify(
                "exchanges that had not ended are not in \"\(path)\" yet (\(error.message)), but safe next to it: \"wiretape decode \(path)\" adds them."
            )
        }
        if self.file.unchecked > 0 {
            let exchanges = self.file.unchecked == 1 ? "1 exchange was" : "\(self.file.unchecked) exchanges were"
            self.notify(
                "\"\(path)\" may hold secrets: \(exchanges) not searched once more for those that were redacted, since the time was over: \"wiretape redact \(path)\" searches everything."
            )
        }
        if !self.file.finished.unsearched.isEmpty, let words = self.currentStatus.unsearchedExchanges.words {
            self.notify("\"\(path)\": \(words): \"wiretape redact \(path)\" searches them.")
        }
        for words in self.file.namedDigests.words + self.file.spreadSecrets { self.notify("\"\(path)\": \(words)") }
        return path
    }
}

/// Takes taped exchanges from any thread without waiting: a recorder, or a substitute.
package protocol ExchangeSink: Sendable {
    /// The number of the next exchange.
    func nextID() -> Int
    /// - Returns: whether it is full. If so, stop reading until `onDrain` calls back.
    func put(_ item: RecorderItem) -> Bool
    /// Whether it is still full since `put` reported it.
    var isFull: Bool { get }
    /// Whether messages of conversations have to wait until `onDrain` calls back, so that exchanges always find room.
    func isBusy() -> Bool
    /// - Parameter call: called on any thread whenever it was full or busy and has room again. Replaces an earlier one.
    func onDrain(_ call: @escaping @Sendable () -> Void)
    /// Why it cannot write; nil if it can.
    var obstacle: RecorderProblem? { get }
}

extension Recorder: ExchangeSink {}

/// The state of a recording.
public struct RecorderStatus: Sendable, Hashable {
    /// Exchanges in the file.
    public var recorded = 0
    /// Exchanges that could not be written.
    public var lost = 0
    /// Exchanges in memory that could not be written yet.
    public var held = 0
    /// Why the last attempt to write failed; nil if the recorder can write.
    public var obstacle: RecorderProblem?
    /// The first problem and its cause.
    public var firstProblem: RecorderProblem?
    /// Exchanges with bodies that have not been decoded yet.
    public var undecoded = 0
    /// How often a secret was beyond the limit (`SecretVault.limit`) and was therefore redacted only where it was found. Known once
    /// everything is written.
    public var unsearched = 0
    /// Exchanges with parts that could not be searched for secrets. Known once everything is written.
    public var unsearchedExchanges = UnsearchedExchanges()
    /// Secrets that remain in the closed recording.
    public var leaks: [CassetteLeak] = []
    /// Whether exchanges that had not ended are not in the closed recording yet, but in journals next to it.
    public var isLeftOpen = false
    /// Exchanges of the closed recording that were not searched for remaining secrets before the time of the close was over.
    public var unchecked = 0
    /// Digests of changed bodies that the closed recording contains.
    public var namedDigests = NamedDigests()

    public init() {}

    /// Whether the last attempt to write failed for lack of space.
    public var isDiskFull: Bool { self.obstacle?.code == .diskFull }
}

/// The system's monotonic clock, which is not affected by setting the date.
enum MonotonicClock {
    /// Nanoseconds since a fixed instant.
    static var now: UInt64 {
        var now = timespec()
        // Cannot fail: all supported systems have this clock.
        clock_gettime(CLOCK_MONOTONIC, &now)
        return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
    }
}
