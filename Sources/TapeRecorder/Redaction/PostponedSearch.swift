internal import CassetteModel
internal import CassetteRedaction
internal import Dispatch
internal import TapeBytes

/// Searches exchanges, and messages of conversations, for secrets on a thread of its own, if their search would delay all others.
///
/// Leaves their bytes where they are, in memory or in files without a name, so that nothing can be read before it is redacted. Knows
/// neither the queue nor the cassette.
final class PostponedSearch: Sendable {
    enum Kind {
        /// To the end, however long a body is when it is decoded.
        case whole
        /// Only what can be searched at once: other exchanges come back unchanged.
        case attempt

        /// Exchanges waiting or being searched, above which traffic is slowed: at a gibibyte each, 64 are a few minutes of work. An attempt
        /// takes about 40 ms at most, and an ordinary exchange may wait for all attempts before it.
        var limit: Int { self == .whole ? 64 : 8 }
    }

    /// Bytes of them in memory: as many as the queue holds.
    static let weightLimit = 8 << 20
    /// Origins whose bodies are known to take long; above that all are forgotten.
    private static let originLimit = 64

    /// What is to be searched.
    enum Subject {
        case exchange(CapturedExchange)
        /// A message of the conversation of that number, and where it is written.
        case message(of: Int, any ConversationMessage, MessagePlace)
    }

    /// A subject, and what becomes of it.
    // SAFETY: the recorder thread makes it and passes it on with `put`; only the searching thread has it until it is done; `take` returns
    // it. The lock of `state` is in between each time.
    final class Job: @unchecked Sendable {
        fileprivate(set) var subject: Subject
        let weight: Int
        let stored: RecorderItem.Stored?
        /// The server of its bodies; empty if unknown.
        fileprivate let origin: String
        /// The redactor's generation when the search began.
        fileprivate(set) var generation = 0
        /// Nil once it is redacted.
        fileprivate(set) var error: (any Error)?
        /// It was an attempt and takes too long for one: the exchange is unchanged.
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
        /// The exchanges that wait or are searched, and their weight.
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
    /// Signalled for each job that is done.
    private let progress = DispatchSemaphore(value: 0)
    private let cancellation = SearchBudget()
    private let hasGivenUp = Guarded(false)
    private let kind: Kind
    // SAFETY: used only by the searching thread. It shares with the recorder thread the vault and the store's `makeSpool`, which any thread
    // may use.
    nonisolated(unsafe) private let redaction: ExchangeRedaction
    private let start: @Sendable (@escaping @Sendable () -> Void) -> Bool
    private let wake: @Sendable () -> Void

    /// - Parameters:
    ///   - redaction: for this search only.
    ///   - start: runs its argument on another thread; false if there is none.
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

    /// Whether no job waits, is searched, or is done and not taken.
    var isIdle: Bool { self.state.withLock { $0.count == 0 && $0.done.isEmpty } }

    /// The exchanges that wait or are searched.
    var count: Int { self.state.withLock { $0.count } }

    /// Whether a limit is reached.
    var isFull: Bool { self.state.withLock { $0.count >= self.kind.limit || $0.weight >= Self.weightLimit } }

    /// - Returns: false if there is no thread to search it; the caller keeps it.
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
            // Without a thread it was the only one.
            state.waiting = []
            state.count -= 1
            state.weight -= job.weight
            state.hasThread = false
        }
        return false
    }

    /// The jobs that are done, in the order of their end.
    func take() -> [Job] {
        self.state.withLock { state in
            var done: [Job] = []
            swap(&done, &state.done)
            return done
        }
    }

    /// Waits until another job is done. Call it only after `put`, before that job is taken: else it waits forever.
    func wait() { self.progress.wait() }

    /// Ends the running search at its next piece, and all others before they begin: their results are not needed.
    func cancel() {
        self.cancellation.cancel()
    }

    /// Whether exchanges come back unsearched to be recorded all the same.
    var isGivenUp: Bool { self.hasGivenUp.withLock { $0 } }

    /// Ends searches like `cancel`, for a close that has no more time: their exchanges are still wanted.
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
