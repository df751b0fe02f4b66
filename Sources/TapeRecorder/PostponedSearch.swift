internal import CassetteModel
internal import CassetteRedaction
internal import Dispatch
internal import TapeBytes

/// Searches exchanges for secrets on a thread of its own: those whose search would keep all others from their place in the file.
///
/// Keeps what is searched where it was, in memory or in files without a name, so that nothing of it can be read before it is redacted.
/// Knows neither the queue nor the cassette.
final class PostponedSearch: Sendable {
    enum Kind {
        /// To the end, whatever comes out of a body's codings.
        case whole
        /// Only what can be searched at once: the rest comes back as it was.
        case attempt

        /// Exchanges that wait or are searched, beyond which traffic is held up: at a gibibyte each, 64 are some minutes of work. An
        /// attempt takes some 40 ms at most, and an ordinary exchange may wait for all that were put before it.
        var limit: Int { self == .whole ? 64 : 8 }
    }

    /// Bytes of them in memory: as much as the queue holds.
    static let weightLimit = 8 << 20
    /// Origins whose bodies are known to take long; beyond that all are forgotten.
    private static let originLimit = 64

    /// An exchange on its way through a search.
    ///
    // SAFETY: the recorder thread makes it and gives it away with `put`; the searching thread has it alone until it is done; `take` gives it
    // back. The lock of `state` is in between each time.
    final class Job: @unchecked Sendable {
        var exchange: LooseExchange
        let weight: Int
        let stored: RecorderItem.Stored?
        /// Who made its bodies, as far as that is known.
        fileprivate let origin: String
        /// What the vault knew when the search began.
        fileprivate(set) var generation = 0
        /// Nil once it is redacted.
        fileprivate(set) var error: (any Error)?
        /// It was an attempt, and it takes longer than that: nothing is done to it.
        fileprivate(set) var isUnsearched = false

        init(_ exchange: LooseExchange, weight: Int, stored: RecorderItem.Stored?) {
            self.exchange = exchange
            self.weight = weight
            self.stored = stored
            self.origin = exchange.interaction.connection?.remote ?? ""
        }
    }

    private struct State: Sendable {
        var waiting: [Job] = []
        var done: [Job] = []
        /// Those that wait or are searched, with their weight.
        var count = 0
        var weight = 0
        var hasThread = false
        /// Origins of what came back from an attempt as it was. What they send is tried after what others send.
        var slow: Set<String> = []

        mutating func next() -> Job? {
            guard !self.waiting.isEmpty else { return nil }
            return self.waiting.remove(at: self.waiting.firstIndex { !self.slow.contains($0.origin) } ?? 0)
        }
    }

    private let state = Guarded(State())
    /// Signalled with each job that is done.
    private let progress = DispatchSemaphore(value: 0)
    private let cancellation = SearchBudget()
    private let kind: Kind
    // SAFETY: used by one thread at a time, which is the searching one; what it shares with the recorder's is the vault, which any thread
    // may use, and the store's `makeSpool`, which any thread may call.
    nonisolated(unsafe) private let redaction: ExchangeRedaction
    private let start: @Sendable (@escaping @Sendable () -> Void) -> Bool
    private let wake: @Sendable () -> Void

    /// - Parameters:
    ///   - redaction: of this search alone.
    ///   - start: runs what it is given on another thread; no where there is none left.
    ///   - wake: called on that thread with each exchange that is done.
    init(
        _ kind: Kind, _ redaction: ExchangeRedaction,
        start: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool = { OwnThread.start($0) },
        wake: @escaping @Sendable () -> Void
    ) {
        self.kind = kind
        self.redaction = redaction.within(self.cancellation)
        self.start = start
        self.wake = wake
    }

    /// Whether nothing is under way, and nothing done that nobody has taken.
    var isIdle: Bool { self.state.withLock { $0.count == 0 && $0.done.isEmpty } }

    /// Exchanges that wait or are searched.
    var count: Int { self.state.withLock { $0.count } }

    /// Whether more would be more than there may be.
    var isFull: Bool { self.state.withLock { $0.count >= self.kind.limit || $0.weight >= Self.weightLimit } }

    /// - Returns: whether it is searched; no where there is no thread to do it, and the caller has it still.
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

    /// Those that are done, in the order in which they were.
    func take() -> [Job] {
        self.state.withLock { state in
            var done: [Job] = []
            swap(&done, &state.done)
            return done
        }
    }

    /// Waits until something more is done; only for who has put something that was not taken.
    func wait() { self.progress.wait() }

    /// Ends the search under way at its next piece, and all others before they begin: nobody wants what they find.
    func cancel() {
        self.cancellation.cancel()
    }

    private func run() {
        while let job = self.next() {
            do {
                guard !self.cancellation.isSpent else { throw SearchBudget.Spent() }
                job.generation = self.redaction.redactor.vault.generation
                var exchange = job.exchange
                switch self.kind {
                case .whole:
                    _ = try self.redaction.redact(&exchange.interaction, request: &exchange.request, response: &exchange.response)
                case .attempt:
                    job.isUnsearched = try self.redaction.redactAtOnce(&exchange) == .tooLong
                }
                job.exchange = exchange
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

    private func next() -> Job? {
        self.state.withLock { state in
            let next = state.next()
            if next == nil { state.hasThread = false }
            return next
        }
    }
}
