internal import CassettePlayback
internal import Dispatch
internal import Foundation
internal import TapeBytes
internal import TrafficRules

/// An exchange whose answer rules change: delivers the steps in their order, each when its time has come.
final class RuledTask: ExplainedTask {
    private struct State {
        var answer: RuledAnswer
        var steps: [RuledAnswer.Step] = []
        var inner: (any TransportTask)?
        /// Bytes in the steps.
        var size = 0
        var isDelivering = false
        var isPaused = false
        var wasResumed = false
        /// A timer runs, or nothing more comes.
        var isWaiting = false
        var isCancelled = false
        var isOver = false
        /// The inner task has been told to pause.
        var holdsInner = false
    }

    /// Bytes that may wait before the inner exchange pauses.
    private static let highWater = 256 << 10
    /// Bytes of a throttled body that are delivered at once, unless the rate's burst is smaller.
    private static let portion = 16 << 10

    private let ruled: RuledRequest
    private let rules: ClientRules
    private let session: CassetteSession
    private let watch: ElapsedClock
    /// Since the cassette was opened, at the start of the exchange.
    private let start: Duration
    private let receive: @Sendable (TransportEvent) -> Demand
    private let state: Guarded<State>
    private let sleeper = Guarded<Task<Void, Never>?>(nil)

    init(
        _ request: TransportRequest, _ ruled: RuledRequest, _ rules: ClientRules, session: CassetteSession, clock: any Clock<Duration>,
        start: Duration, receive: @escaping @Sendable (TransportEvent) -> Demand
    ) {
        self.ruled = ruled
        self.rules = rules
        self.session = session
        self.watch = ElapsedClock(clock)
        self.start = start
        self.receive = receive
        self.state = Guarded(State(answer: RuledAnswer(request, ruled)))
    }

    /// Starts the exchange inside, after the time that its request needs.
    func start(_ request: TransportRequest, on inner: any Transport) -> RuledTask {
        let wait =
            (self.ruled.plan.pace?.up ?? []).map {
                self.rules.reserve(request.body.size ?? 0, $0, isUp: true, at: self.now)
            }.max() ?? .zero
        guard wait > .zero else {
            self.begin(request, inner)
            return self
        }
        self.state.withLock { $0.isWaiting = true }
        self.sleep(wait) { task in
            task.begin(request, inner)
            task.run()
        }
        return self
    }

    private func begin(_ request: TransportRequest, _ inner: any Transport) {
        let task = inner.start(request) { self.take($0) }
        let isCancelled = self.state.withLock { state in
            if !state.isOver { state.inner = task }
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    private var now: Duration { self.start + self.watch.elapsed }

    // MARK: Events

    private func take(_ event: TransportEvent) -> Demand {
        let pauses = self.state.withLock { state in
            guard !state.isOver else { return false }
            if event.isLast { state.inner = nil }
            for step in state.answer.take(event) {
                switch step {
                case .emit(.chunk(let data)), .throttled(let data): state.size += data.count
                case .emit, .wait, .stall, .hang: break
                }
                state.steps.append(step)
            }
            state.holdsInner = !event.isLast && state.size > Self.highWater
            return state.holdsInner
        }
        self.takeBack()
        self.run()
        return pauses ? .pause : .more
    }

    /// After a broken answer, the same recorded exchange answers again.
    private func takeBack() {
        guard self.state.withLock({ $0.answer.isBroken }) else { return }
        self.ruled.attempt?.injected()
        guard let index = self.ruled.takeRecorded() else { return }
        self.session.brokenByRule(index)
    }

    /// Delivers what is due.
    private func run() {
        while let step = self.next() {
            switch step {
            case .emit(let event): self.deliver(event)
            case .throttled(let data): self.deliver(throttled: data)
            case .wait(let time), .stall(let time):
                // With an immediate clock no time passes, and a client that wants to give up cannot.
                if case .stall = step, time >= .seconds(1), !self.watch.isImmediate { self.ruled.attempt?.stalled() }
                let goes = self.state.withLock { state in
                    state.isDelivering = false
                    guard time > .zero else { return true }
                    state.isWaiting = true
                    return false
                }
                if !goes { self.sleep(time) { $0.run() } }
            case .hang where self.watch.isImmediate:
                // A session with an immediate clock has no timeouts: it would wait for ever.
                self.deliver(.failed(TransportFailure(.network(.timeout), "the rest of an answer did not come by a traffic rule")))
            case .hang:
                self.ruled.attempt?.stalled()
                self.state.withLock { state in
                    state.isDelivering = false
                    state.isWaiting = true
                    state.steps = []
                }
            }
        }
    }

    private func next() -> RuledAnswer.Step? {
        let (step, inner) = self.state.withLock { state -> (RuledAnswer.Step?, (any TransportTask)?) in
            guard !state.isDelivering, !state.isPaused, !state.isWaiting, !state.isOver, !state.steps.isEmpty else { return (nil, nil) }
            let step = state.steps.removeFirst()
            if case .emit(.chunk(let data)) = step { state.size -= data.count }
            if case .throttled(let data) = step { state.size -= data.count }
            state.isDelivering = true
            state.wasResumed = false
            guard state.holdsInner, state.size <= Self.highWater / 2 else { return (step, nil) }
            state.holdsInner = false
            return (step, state.inner)
        }
        inner?.resume()
        return step
    }

    private func deliver(_ event: TransportEvent) {
        if event.isLast {
            let isCancelled = self.state.withLock { state in
                state.isOver = true
                state.steps = []
                return state.isCancelled
            }
            _ = self.receive(isCancelled ? .failed(.cancelled()) : event)
            self.state.withLock { $0.inner.take() }?.cancel()
            return
        }
        let demand = self.receive(event)
        let cancels = self.state.withLock { state in
            state.isDelivering = false
            state.isPaused = demand == .pause && !state.wasResumed
            guard state.isCancelled, !state.isOver else { return false }
            state.isOver = true
            return true
        }
        if cancels { _ = self.receive(.failed(.cancelled())) }
    }

    private func deliver(throttled data: Data) {
        let rates = self.ruled.plan.pace?.down ?? []
        let portion = max(1, min(Self.portion, rates.map(\.burst).min() ?? Self.portion))
        let first = data.prefix(portion)
        let rest = data.dropFirst(portion)
        let wait = rates.map { self.rules.reserve(first.count, $0, isUp: false, at: self.now) }.max() ?? .zero
        self.state.withLock { state in
            state.isDelivering = false
            state.size += data.count
            if !rest.isEmpty { state.steps.insert(.throttled(Data(rest)), at: 0) }
            state.steps.insert(.emit(.chunk(Data(first))), at: 0)
            if wait > .zero { state.steps.insert(.wait(wait), at: 0) }
        }
    }

    private func sleep(_ time: Duration, then: @escaping @Sendable (RuledTask) -> Void) {
        let watch = self.watch
        let sleeper = Task {
            do { try await watch.sleep(for: time) } catch { return }
            let goes = self.state.withLock { state in
                state.isWaiting = false
                return !state.isOver
            }
            if goes { then(self) }
        }
        self.sleeper.withLock { $0 = sleeper }
        if self.state.withLock({ $0.isOver }) { sleeper.cancel() }
    }

    // MARK: The client's side

    func cancel() {
        let (inner, reports) = self.state.withLock { state -> ((any TransportTask)?, Bool) in
            guard !state.isOver else { return (nil, false) }
            state.isCancelled = true
            guard !state.isDelivering else { return (state.inner.take(), false) }
            state.isOver = true
            state.steps = []
            return (state.inner.take(), true)
        }
        self.sleeper.withLock { $0 }?.cancel()
        inner?.cancel()
        if reports { _ = self.receive(.failed(.cancelled())) }
    }

    func explain(_ failure: TransportFailure) {
        (self.state.withLock { $0.inner } as? any ExplainedTask)?.explain(failure)
    }

    func resume() {
        let goes = self.state.withLock { state in
            state.wasResumed = true
            defer { state.isPaused = false }
            return state.isPaused
        }
        // Does not run on the caller's thread, which may hold a lock that the receiver needs.
        if goes { DispatchQueue.global().async { self.run() } }
    }
}
