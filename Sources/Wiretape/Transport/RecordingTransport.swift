internal import TapeBytes

/// Replays what a cassette holds and records what it does not, as the cassette's mode says, around a transport that goes to the network.
///
/// What comes through `inner` is recorded as the client sees it: bodies without their content codings, marked so
/// (docs/decisions/0022-decoded-bodies.md); header fields as `inner` shows them; an exchange that failed, was cut or cancelled as such. An
/// exchange is in the recorder's queue before its end is told. Where the disk is slower than the network, the network waits.
public struct RecordingTransport: Transport {
    public let cassette: Cassette
    private let inner: any Transport
    private let clock: any Clock<Duration>

    /// - Parameter clock: by which recorded times are taken and the cassette's latency is waited for.
    public init(_ cassette: Cassette, around inner: any Transport, clock: any Clock<Duration> = ContinuousClock()) {
        self.cassette = cassette
        self.inner = inner
        self.clock = clock
    }

    public func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
        if let failure = self.cassette.closedFailure {
            _ = receive(.failed(failure))
            return FinishedTask.shared
        }
        switch self.cassette.decider.begin(request) {
        case .decided(let decision):
            guard case .forward(records: true) = decision, request.body.size ?? 0 > RequestDecider.inlineSize else {
                return self.follow(decision, request, receive)
            }
            return DeferredTask(receive: receive) { self.prepared(decision, request, receive) }
        case .undecided(let pending):
            return DeferredTask(receive: receive) {
                self.prepared(self.cassette.decider.decide(pending, request), request, receive)
            }
        }
    }

    /// Does what takes time, on a thread that may wait: the body goes to the recorder first.
    private func prepared(
        _ decision: RequestDecision, _ request: TransportRequest, _ receive: @escaping @Sendable (TransportEvent) -> Demand
    ) -> DeferredTask.Prepared {
        guard case .forward(records: true) = decision, let recording = self.cassette.recording else {
            return DeferredTask.Prepared { self.follow(decision, request, receive) }
        }
        let tape = ExchangeTape(request, recording: recording, clock: self.clock)
        do {
            try tape.takeRequestBody(waits: true)
        } catch {
            tape.drop()
            return DeferredTask.Prepared { self.follow(.refuse(RequestDecider.unreadable(request, error)), request, receive) }
        }
        return DeferredTask.Prepared(
            start: { RecordingTask(tape, receive: receive).start(request, on: self.inner) }, discard: { tape.drop() })
    }

    private func follow(
        _ decision: RequestDecision, _ request: TransportRequest, _ receive: @escaping @Sendable (TransportEvent) -> Demand
    ) -> any TransportTask {
        switch decision {
        case .replay(let index):
            // Nothing is chosen where there is nothing to be played.
            guard let player = self.cassette.player else { return FinishedTask.shared }
            return player.play(index, for: request, clock: self.clock, receive: receive)
        case .refuse(let failure):
            _ = receive(.failed(failure))
            return FinishedTask.shared
        case .forward(let records):
            guard records, let recording = self.cassette.recording else { return self.inner.start(request, receive: receive) }
            let tape = ExchangeTape(request, recording: recording, clock: self.clock)
            do {
                try tape.takeRequestBody(waits: false)
            } catch {
                tape.drop()
                _ = receive(.failed(RequestDecider.unreadable(request, error)))
                return FinishedTask.shared
            }
            return RecordingTask(tape, receive: receive).start(request, on: self.inner)
        }
    }
}

/// An exchange on its way through another transport and into a cassette.
final class RecordingTask: ExplainedTask {
    private struct State: Sendable {
        var inner: (any TransportTask)?
        /// The receiver wants nothing for now.
        var isPaused = false
        /// It wanted more while it was told something.
        var wasResumed = false
        /// The recorder's queue is full.
        var isFull = false
        /// Orders that came before the inner task was there.
        var wantsCancel = false
        var wantsResume = false
        var isOver = false
    }

    private let tape: ExchangeTape
    private let receive: @Sendable (TransportEvent) -> Demand
    private let state = Guarded(State())

    init(_ tape: ExchangeTape, receive: @escaping @Sendable (TransportEvent) -> Demand) {
        self.tape = tape
        self.receive = receive
    }

    func start(_ request: TransportRequest, on inner: any Transport) -> RecordingTask {
        let task = inner.start(request) { self.take($0) }
        let (cancels, resumes) = self.state.withLock { state in
            // It holds this one until its last event.
            state.inner = state.isOver ? nil : task
            return (state.wantsCancel, state.wantsResume)
        }
        if cancels { task.cancel() } else if resumes { task.resume() }
        return self
    }

    private func take(_ event: TransportEvent) -> Demand {
        self.state.withLock { $0.wasResumed = false }
        let (told, isFull) = self.tape.take(event)
        let demand = self.receive(told)
        guard !told.isLast else {
            self.state.withLock { state in
                state.inner = nil
                state.isOver = true
            }
            return .more
        }
        let pauses = self.state.withLock { state in
            state.isPaused = demand == .pause && !state.wasResumed
            state.isFull = isFull
            return state.isPaused || isFull
        }
        if isFull { self.tape.recording.whenDrained { [weak self] in self?.change { $0.isFull = false } } }
        return pauses ? .pause : .more
    }

    func cancel(dueTo failure: TransportFailure) {
        self.tape.isGivenUp(dueTo: failure)
        self.cancel()
    }

    func cancel() {
        let inner = self.state.withLock { state in
            state.wantsCancel = true
            return state.inner
        }
        inner?.cancel()
    }

    func resume() {
        self.change { state in
            state.isPaused = false
            state.wasResumed = true
        }
    }

    /// The inner transport goes on where nobody is in its way any more.
    private func change(_ body: @Sendable (inout State) -> Void) {
        let inner = self.state.withLock { state -> (any TransportTask)? in
            body(&state)
            guard !state.isPaused, !state.isFull else { return nil }
            state.wantsResume = state.inner == nil
            return state.inner
        }
        inner?.resume()
    }
}
