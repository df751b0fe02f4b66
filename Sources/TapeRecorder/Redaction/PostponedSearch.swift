internal import CassetteModel
internal import CassetteRedaction
internal import Dispatch
internal import TapeBytes

/// Searches exchanges and messages of conversations for secrets on a separate thread, if the search would delay all others.
///
/// Leaves their bytes where they are, in memory or in unnamed files, so that nothing can be read before it is redacted. Independent of the
/// queue and the cassette.
final class PostponedSearch: Sendable {
    enum Kind {
        /// Searches to the end, however long a decoded body is.
        case whole
        /// Searches only what can be searched at once. Other exchanges are returned unchanged.
        case attempt

        /// Exchanges waiting or being searched, above which traffic is slowed. At a gibibyte each, 64 are a few minutes of work. An attempt
        /// takes at most about 40 ms, and an ordinary exchange may wait for all attempts before it.
        var limit: Int { self == .whole ? 64 : 8 }
    }

    /// Their bytes in memory: as many as the queue holds.
    static let weightLimit = 8 << 20
    /// Origins whose bodies are known to take long. Beyond that, all are forgotten.
    private static let originLimit = 64

    /// What is searched.
    enum Subject {
        case exchange(CapturedExchange)
        /// A message of the conversation with that number, and where it is written.
        case message(of: Int, any ConversationMessage, MessagePlace)
    }

    /// A subject and the result of its search.
    // SAFETY: the recorder thread creates it and passes it on with `put`; only the searching thread has it until it is done; `take` returns
    // it. The lock of `state` is in between each time.
    final class Job: @unchecked Sendable {
        fileprivate(set) var subject: Subject
        let weight: Int
        let stored: RecorderItem.Stored?
        /// The server that sent its bodies; empty if unknown.
        fileprivate let origin: String
        /// The redactor's generation when the search began.
        fileprivate(set) var generation = 0
        /// nil once it has been redacted.
        fileprivate(set) var error: (any Error)?
        /// It was an attempt that took too long. The exchange is unchanged.
        fileprivate(set) var isUnsearched = false

        init(_ subject: Subject, weight: Int, stored: RecorderItem.Stored? = nil) {
            self.subject = subject
            self.weight = weight
            self.stored = stored
            self.origin = if case .exchange(let exchange) = subject { exchange.interaction.connection?.remote ?? "" } else { "" }
        }
    }

    private struct State: Sendable {
        var waiting: [Job] = []
        var done: [Job] = []
        /// The number of exchanges that are waiting or being searched, and their weight.
        var count = 0
        var weight = 0
        var hasThread = false
        /// Origins of attempts that took too long. Their exchanges are tried after all others.
        var slow: Set<String> = []

        mutating func next() -> Job? {
            guard !self.waiting.isEmpty else { return nil }
            return self.waiting.remove(at: self.waiting.firstIndex { !self.slow.contains($0.origin) } ?? 0)
        }
    }

    private let state = Guarded(State())
    /// Signalled for each finished job.
    private let progress = DispatchSemaphore(value: 0)
    private let cancellation = SearchBudget()
    private let hasGivenUp = Guarded(false)
    private let kind: Kind
    // SAFETY: used only by the searching thread. It shares with the recorder thread only the vault and the store's `makeSpool`, which any
    // thread may use.
    nonisolated(unsafe) private let redaction: ExchangeRedaction
    private let start: @Sendable (@escaping @Sendable () -> Void) -> Bool
    private let wake: @Sendable () -> Void

    /// - Parameters:
    ///   - redaction: used only for this search.
    ///   - start: runs its argument on another thread. Returns false if none can be started.
    ///   - wake: called on that thread after each exchange.
    init(
        _ kind: Kind, _ redaction: ExchangeRedaction,
        start: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool = { DedicatedThread.start($0) },
        wake: @escaping @Sendable () -> Void
    ) {
        self.kind = kind
        self.redaction = redaction.within(self.cancellation)
        self.start = start
        self.wake = wake
    }

    /// Whether no job is waiting, being searched, or done but not taken.
    var isIdle: Bool { self.state.withLock { $0.count == 0 && $0.done.isEmpty } }

    /// The exchanges that are waiting or being searched.
    var count: Int { self.state.withLock { $0.count } }

    /// Whether a limit has been reached.
    var isFull: Bool { self.state.withLock { $0.count >= self.kind.limit || $0.weight >= Self.weightLimit } }

    /// - Returns: false if no thread can search the job, which the caller then keeps.
    func put(_ job: Job) -> Bool {
        let starts = self.state.withLock { state in
            state.waiting.append(job)
            state.count += 1
            state.weight += job.weight
            defer { state.hasThread = true }
            return !state.hasThread
        }
        guard starts, !self.start({ self.run() }) else { return true }
        self.state.withLock { state in
            // Without a thread, this was the only job.
            state.waiting = []
            state.count -= 1
            state.weight -= job.weight
            state.hasThread = false
        }
        return false
    }

    /// The finished jobs, in the order of their end.
    func take() -> [Job] {
        self.state.withLock { state in
            var done: [Job] = []
            swap(&done, &state.done)
            return done
        }
    }

    /// Waits until another job is done. Call it only after `put` and before that job is taken; otherwise it waits forever.
    func wait() { self.progress.wait() }

    /// Ends the running search at its next piece, and all others before they begin. Their results are not needed.
    func cancel() {
        self.cancellation.cancel()
    }

    /// Whether exchanges are returned unsearched to be recorded anyway.
    var isGivenUp: Bool { self.hasGivenUp.withLock { $0 } }

    /// Ends searches like `cancel`, for a close that has no time left. Their exchanges are still wanted.
    func giveUp() {
        self.hasGivenUp.withLock { $0 = true }
        self.cancellation.cancel()
    }

    private func run() {
        while let job = self.next() {
            do {
                guard !self.cancellation.isSpent else { throw SearchBudget.Spent() }
                job.generation = self.redaction.redactor.generation
                try self.search(job)
            } catch {
                job.error = error
            }
            self.state.withLock { state in
                if job.isUnsearched {
                    if state.slow.count >= Self.originLimit { state.slow = [] }
                    state.slow.insert(job.origin)
                }
                state.done.append(job)
                state.count -= 1
                state.weight -= job.weight
            }
            self.progress.signal()
            self.wake()
        }
    }

    private func search(_ job: Job) throws {
        switch (job.subject, self.kind) {
        case (.exchange(var exchange), .whole):
            _ = try self.redaction.redact(&exchange.interaction, request: &exchange.request, response: &exchange.response)
            job.subject = .exchange(exchange)
        case (.exchange(var exchange), .attempt):
            job.isUnsearched = try self.redaction.redactAtOnce(&exchange) == .tooLong
            job.subject = .exchange(exchange)
        case (.message(let id, var message, var place), _):
            place.redactor = self.redaction.redactor
            try message.search(&place)
            job.subject = .message(of: id, message, place)
        }
    }

    private func next() -> Job? {
        self.state.withLock { state in
            let next = state.next()
            if next == nil { state.hasThread = false }
            return next
        }
    }
}
