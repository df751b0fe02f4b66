internal import CassetteModel
internal import CassetteRedaction
internal import Dispatch
internal import TapeBytes
internal import TapeExchange

/// Searches coded bodies for secrets ahead of the recorder's thread, on spare processors.
///
/// Only reports which bodies contain none. If it finds secrets, the recorder's thread finds them again, in the order of the exchanges. A
/// recording therefore does not depend on timing or on the number of processors.
final class SearchAhead: Sendable {
    private enum Stage: Sendable {
        case waiting(TapedExchange)
        case running
        /// nil if anything was found, or if the body was not to be searched at once.
        case done(CleanBodies?)
        case taken
    }

    private final class Look: Sendable {
        let stage: Guarded<Stage>
        private let ended = DispatchSemaphore(value: 0)

        init(_ exchange: TapedExchange) { self.stage = Guarded(.waiting(exchange)) }

        /// nil if the recorder's thread has taken it.
        func start() -> TapedExchange? {
            self.stage.withLock { stage in
                guard case .waiting(let exchange) = stage else { return nil }
                stage = .running
                return exchange
            }
        }

        func end(_ clean: CleanBodies?) {
            self.stage.withLock { $0 = .done(clean) }
            self.ended.signal()
        }

        /// Waits if the search is running. If it has not begun, prevents it and returns nil.
        func take() -> CleanBodies? {
            let isRunning = self.stage.withLock { stage -> Bool in
                if case .running = stage { return true }
                if case .waiting = stage { stage = .taken }
                return false
            }
            if isRunning { self.ended.wait() }
            return self.stage.withLock { stage in
                guard case .done(let clean) = stage else { return nil }
                return clean
            }
        }
    }

    private struct State: Sendable {
        var waiting: [Look] = []
        var first = 0
        var threads = 0
        /// The searches of the batch, by the number of their exchange.
        var looks: [Int: Look] = [:]
    }

    /// A body with fewer wire bytes is searched faster than it is handed over.
    private static let smallest = 4 << 10
    private static let threadLimit = 8

    private let redactor: Redactor
    private let threads: Int
    private let start: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let state = Guarded(State())

    /// nil if the recorder's thread has the only processor.
    ///
    /// - Parameters:
    ///   - processors: those that the process may use.
    ///   - start: runs something on another thread.
    init?(
        _ redactor: Redactor, processors: Int,
        start: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { DispatchQueue.global().async(execute: $0) }
    ) {
        guard processors > 1 else { return nil }
        self.redactor = redactor
        self.start = start
        self.threads = min(processors - 1, Self.threadLimit)
    }

    /// Begins to search the coded bodies of a batch.
    func begin(_ batch: borrowing RecorderQueue.Batch) {
        var looks: [(id: Int, look: Look)] = []
        for entry in batch.entries {
            guard case .exchange(let exchange, _) = entry.item, exchange.isCoded, exchange.weight >= Self.smallest,
                exchange.requestBody?.isSpilled != true, exchange.responseBody?.isSpilled != true
            else { continue }
            looks.append((exchange.interaction.id, Look(exchange)))
        }
        // The first one would already be searched by the recorder before another thread could start.
        guard looks.count > 1 else { return }
        let starts = self.state.withLock { state in
            state.waiting = looks.map(\.look)
            state.first = 1
            state.looks = Dictionary(looks.map { ($0.id, $0.look) }, uniquingKeysWith: { $1 })
            let starts = min(self.threads, looks.count - 1) - state.threads
            state.threads += max(0, starts)
            return starts
        }
        for _ in 0..<max(0, starts) { self.start { self.run() } }
    }

    /// The bodies of a batch's exchange that contain no secret, if they have been searched. Waits for a search that is running.
    func clean(_ id: Int) -> CleanBodies? {
        self.state.withLock { $0.looks.removeValue(forKey: id) }?.take()
    }

    /// The batch is done, so its bodies must not stay in memory.
    func forget() {
        self.state.withLock { state in
            state.waiting = []
            state.first = 0
            state.looks = [:]
        }
    }

    private func run() {
        while let look = self.next() {
            guard let exchange = look.start() else { continue }
            look.end(self.cleanBodies(of: exchange))
        }
    }

    private func cleanBodies(of exchange: TapedExchange) -> CleanBodies? {
        let redactor = self.redactor.forgetting(within: ExchangeRedaction.budgetAtOnce())
        let generation = redactor.vault.generation
        var interaction = exchange.interaction
        let method = redactor.schema == nil ? nil : interaction.request.url
        func look(_ body: TapedBody?, _ headers: HeaderFields?) -> (key: SearchedBodies.Key?, wire: WireBody?) {
            guard let body, let headers else { return (nil, nil) }
            let captured = CapturedBody(.memory(body.bytes), arrival: body.arrival, isComplete: body.isComplete)
            let wire = WireBody(body.bytes, arrival: body.arrival, isComplete: body.isComplete)
            return (SearchedBodies.Key(captured, headers, method: method), wire)
        }
        var request = look(exchange.requestBody, interaction.request.headers)
        var response = look(exchange.responseBody, interaction.response?.headers)
        let outcome = redactor.redact(&interaction, requestBody: &request.wire, responseBody: &response.wire)
        guard !redactor.isSpent, redactor.vault.generation == generation else { return nil }
        let keys = [outcome.request.holdsNothing ? request.key : nil, outcome.response.holdsNothing ? response.key : nil]
        return CleanBodies(generation: generation, keys: keys.compactMap { $0 })
    }

    private func next() -> Look? {
        self.state.withLock { state in
            guard state.first < state.waiting.count else {
                state.threads -= 1
                return nil
            }
            defer { state.first += 1 }
            return state.waiting[state.first]
        }
    }
}

/// Bodies that contain none of the secrets known at the time.
struct CleanBodies: Sendable {
    fileprivate(set) var generation: Int
    fileprivate(set) var keys: [SearchedBodies.Key]
}
