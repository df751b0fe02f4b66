public import CassetteModel
public import CassetteRedaction
public import CassetteStore
internal import Dispatch
internal import Platform
public import TapeBytes
internal import TapeExchange

/// Writes taped exchanges to a cassette, on a thread of its own with a bounded queue.
///
/// `put` never waits and is allowed on any thread or event loop. Opening and closing access the disk on the calling thread.
public final class Recorder: Sendable {
    /// The damage in an existing cassette that opening it repaired.
    public let repaired: CassetteDamage?
    /// What became of conversations that a killed recorder has left open in an existing cassette, in sentences.
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
    ///   - redaction: rules added to those of an existing cassette, applied before anything is kept; nil keeps secrets.
    ///   - digest: makes a SHA-256; files beside the cassette are named by it.
    ///   - refusesUnrecorded: the caller answers no exchange that cannot be recorded. An exchange that it waits for is discarded if it
    ///     cannot be written at once, and messages say that traffic is refused.
    ///   - notify: called with messages for people: the disk is full, or has room again. Called on the recorder thread, and by `close`.
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
        // SAFETY: made here, and used only by the thread from now on.
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

    /// The file that is being written: another one than the cassette that it will replace.
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

    /// - Returns: whether the queue is full: stop reading until `onDrain` calls.
    package func put(_ item: RecorderItem) -> Bool { self.queue.put(item, now: MonotonicClock.now) }

    /// An item put after the end: an exchange is counted as lost, and its caller told.
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

    /// - Parameter call: called on the recorder thread each time a full queue has room again; replaces an earlier one.
    package func onDrain(_ call: @escaping @Sendable () -> Void) {
        self.drained.withLock { $0 = call }
    }

    /// In place of `close` for a run that failed to start: removes a cassette that was made for it and is empty.
    public func abandon() throws(CassetteError) {
        self.queue.close()
        self.finished.wait()
        try self.file.abandon()
    }

    /// In place of `close` for an unwanted recording: removes a cassette that was made for it, with its bodies, and takes what was appended
    /// out of one that was continued.
    package func discard() throws(CassetteError) {
        for search in self.searches { search.cancel() }
        self.queue.close()
        self.finished.wait()
        try self.file.discard()
    }

    /// Makes `close` end soon: searches for secrets that are not done, and the decoding of raw bodies, are left out. No exchange is lost. The
    /// status tells which were not searched; `CassetteRedaction` and `CassetteFinisher.decode` do the rest later. Any thread may call it,
    /// before the close or during it.
    public func hasten() {
        self.haste.cancel()
        for search in self.searches { search.giveUp() }
    }

    /// Writes what is queued, waits for long searches, decodes what was kept raw, sorts and closes the file, and searches it for secrets
    /// that are left, which are then in the status. `hasten` makes it shorter.
    ///
    /// - Parameters:
    ///   - keepsOld: leaves an old cassette in its place, with the new one beside it. A recording that has lost exchanges or holds secrets
    ///     does so in any case.
    ///   - progress: called with the number of exchanges that are done.
    ///   - searching: called every tenth of a second with the number of exchanges whose bodies are still searched for secrets.
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
        let path = try self.file.close(
            keepsOld: keepsOld || status.lost > 0, keepsEmpty: keepsEmpty, hasUndecoded: status.undecoded > 0, haste: self.haste,
            progress: progress)
        self.status.withLock {
            for id in self.file.finished.unsearched { $0.unsearchedExchanges.add(id, notes: [UnsearchedNote.text]) }
            $0.leaks = self.file.leaks
            $0.namedDigests = self.file.namedDigests
        }
        guard status.recorded == 0 || CassettePlace.exists(path) else {
            throw CassetteError(
                .notFound,
                "\"\(path)\" is gone: its folder was moved or removed while it was recorded; look for it there, or record again.")
        }
        if !self.file.finished.unsearched.isEmpty, let words = self.currentStatus.unsearchedExchanges.words {
            self.notify("\"\(path)\": \(words): \"wiretape redact \(path)\" searches them.")
        }
        for words in self.file.namedDigests.words + self.file.spreadSecrets { self.notify("\"\(path)\": \(words)") }
        return path
    }
}

/// Takes taped exchanges, from any thread and without waiting: a recorder, or its stand-in.
package protocol ExchangeSink: Sendable {
    /// The number of the next exchange.
    func nextID() -> Int
    /// - Returns: whether it is full: stop reading until `onDrain` calls.
    func put(_ item: RecorderItem) -> Bool
    /// Whether it is still full since `put` reported it.
    var isFull: Bool { get }
    /// Whether messages of conversations have to wait until `onDrain` calls, so that exchanges always find room.
    func isBusy() -> Bool
    /// - Parameter call: called on any thread each time it was full or busy and has room again; replaces an earlier one.
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
    /// The first problem, with its cause.
    public var firstProblem: RecorderProblem?
    /// Exchanges with bodies that are not decoded yet.
    public var undecoded = 0
    /// How often there was no room for a secret (`SecretVault.limit`), which is then taken out only where it was found. Known once all is
    /// written.
    public var unsearched = 0
    /// Exchanges of which something could not be searched for secrets. Known once all is written.
    public var unsearchedExchanges = UnsearchedExchanges()
    /// Secrets that are left in the closed recording.
    public var leaks: [CassetteLeak] = []
    /// Digests of changed bodies that the closed recording names.
    public var namedDigests = NamedDigests()

    public init() {}

    /// Whether the last attempt to write found no room.
    public var isDiskFull: Bool { self.obstacle?.code == .diskFull }
}

/// The system's monotonic clock, which setting the date does not change.
enum MonotonicClock {
    /// Nanoseconds since a fixed instant.
    static var now: UInt64 {
        var now = timespec()
        // Cannot fail: all supported systems have this clock.
        clock_gettime(CLOCK_MONOTONIC, &now)
        return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
    }
}
