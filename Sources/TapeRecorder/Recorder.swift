public import CassetteModel
public import CassetteRedaction
public import CassetteStore
internal import Dispatch
internal import Platform
public import TapeBytes
internal import TapeExchange

/// Writes taped exchanges into a cassette, on a thread of its own behind a bounded queue.
///
/// Those who put never wait, on whatever thread or event loop they are. Opening and closing touch the disk on the calling thread.
public final class Recorder: Sendable {
    /// What opening found torn in an existing cassette, and has mended.
    public let repaired: CassetteDamage?
    let queue: RecorderQueue
    private let status: Guarded<RecorderStatus>
    private let drained = Guarded<(@Sendable () -> Void)?>(nil)
    private let lastID: Guarded<Int>
    private let finished = DispatchSemaphore(value: 0)
    private let file: RecordingFile
    private let searches: [PostponedSearch]

    /// Opens the cassette that the plan wants written; nil where it wants none.
    ///
    /// - Parameters:
    ///   - redaction: what is taken out before anything is kept, beside what the rules of a cassette that goes on say; nil keeps secrets.
    ///   - digest: makes a SHA-256; files beside the cassette are named by it.
    ///   - refusesUnrecorded: the caller answers no exchange that cannot be recorded. One that it waits for is thrown away where it cannot be
    ///     written at once, and messages say that traffic is refused.
    ///   - notify: called on the recorder thread with what people should know at once: a full disk, room again.
    public init?(
        _ plan: RecordingPlan, version: String, redaction: RedactionRules? = .standard,
        digest: @escaping @Sendable () -> any ContentDigest = { PortableSHA256() }, refusesUnrecorded: Bool = false,
        notify: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(CassetteError) {
        guard let file = try RecordingFile(plan, version: version, redaction: redaction, digest: digest) else { return nil }
        self.file = file
        let status = Guarded(RecorderStatus())
        self.status = status
        self.queue = RecorderQueue { Self.refused($0, status) }
        self.repaired = file.repaired
        self.lastID = Guarded(file.lastID)
        let worker = RecorderWorker(
            file: file, queue: self.queue, status: self.status, drained: self.drained,
            options: RecorderWorker.Options(refusesUnrecorded: refusesUnrecorded), notify: notify)
        self.searches = worker.searches
        // SAFETY: made here, and used by the thread alone from now on.
        nonisolated(unsafe) let handed = worker
        let finished = self.finished
        let isRunning = OwnThread.start {
            handed.run()
            finished.signal()
        }
        guard isRunning else {
            try file.abandon()
            throw CassetteError(
                .unwritable, "there is no thread left to record \"\(plan.path)\" with: end some sessions, or raise the limit (ulimit -u).")
        }
    }

    public var currentStatus: RecorderStatus { self.status.withLock { $0 } }

    /// What keeps the recorder from writing; nil if nothing does.
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

    /// Comes when the recorder has ended: it is counted, and nobody waits for it.
    private static func refused(_ item: RecorderItem, _ status: Guarded<RecorderStatus>) {
        guard case .exchange(_, let stored) = item else { return }
        status.withLock { $0.lost += 1 }
        stored?(.failure(RecorderProblem(.ended, "the recording has ended: nothing more is written into it.")))
    }

    /// Whether the queue has had no room since `put` said so.
    package var isFull: Bool { self.queue.isFull }

    /// - Parameter call: called on the recorder thread each time the queue was full and has room again; takes the place of an earlier
    ///   one.
    package func onDrain(_ call: @escaping @Sendable () -> Void) {
        self.drained.withLock { $0 = call }
    }

    /// In place of `close`, where the run came to nothing: a cassette that was made for it and is empty goes away.
    public func abandon() throws(CassetteError) {
        self.queue.close()
        self.finished.wait()
        try self.file.abandon()
    }

    /// In place of `close`, where nobody wants the recording: a cassette that was made for it goes away with its bodies, one that went on
    /// ends where it ended before.
    package func discard() throws(CassetteError) {
        for search in self.searches { search.cancel() }
        self.queue.close()
        self.finished.wait()
        try self.file.discard()
    }

    /// Writes what is queued, waits for searches that take long, decodes what was kept raw, puts the file in order, closes it and looks for secrets that are left; those are
    /// in the status then.
    ///
    /// - Parameters:
    ///   - keepsOld: leaves an old cassette in its place, the new one beside it; so does a recording that has lost exchanges or holds
    ///     secrets.
    ///   - progress: called now and then with how many of how many exchanges are decoded.
    /// - Returns: the path of the recording.
    public func close(keepsOld: Bool, progress: (_ done: Int, _ of: Int) -> Void = { _, _ in }) throws(CassetteError) -> String {
        self.queue.close()
        self.finished.wait()
        let status = self.currentStatus
        let path = try self.file.close(keepsOld: keepsOld || status.lost > 0, undeveloped: status.undeveloped > 0, progress: progress)
        self.status.withLock { $0.leaks = self.file.leaks }
        return path
    }
}
