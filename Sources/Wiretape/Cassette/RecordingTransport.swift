internal import TapeBytes

/// Replays what a cassette contains and records the rest through another transport, according to the cassette's mode.
///
/// Exchanges are recorded as the client sees them. Bodies have no content codings and are marked as decoded
/// (docs/decisions/0022-decoded-bodies.md). Header fields are those that `inner` reports. Failed, cut and cancelled exchanges are recorded
/// as such. An exchange is in the recorder's queue before its end is reported. If the disk is slower than the network, the network waits.
public struct RecordingTransport: Transport, WebSocketTransport {
    public let cassette: Cassette
    private let inner: any Transport
    private let clock: any Clock<Duration>

    /// - Parameter clock: measures recorded times and the cassette's latency.
    public init(_ cassette: Cassette, around inner: any Transport, clock: any Clock<Duration> = ContinuousClock()) {
        self.cassette = cassette
        self.inner = inner
        self.clock = clock
    }

    public func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
        if let failure = self.cassette.admit() {
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

    public func open(_ request: TransportRequest, protocols: [String]) async throws -> any WebSocketConnection {
        switch try await self.cassette.socket(request, protocols: protocols, clock: self.clock) {
        case .replay(let socket): return socket
        case .forward(let records):
            guard records, let recording = self.cassette.recording else {
                return try await SocketOpening.open(request, protocols: protocols, with: self.inner)
            }
            let tape = ExchangeTape(WireFields.opening(request, protocols: protocols), recording: recording, clock: self.clock)
            let explanation = ExchangeExplanation.current
            do {
                let socket = try await withTaskCancellationHandler {
                    try await SocketOpening.open(request, protocols: protocols, with: self.inner)
                } onCancel: {
                    // Record this at once: the cassette may be closed before the transport has noticed.
                    if let failure = explanation?.withLock({ $0 }) { tape.isGivenUp(dueTo: failure) }
                    _ = tape.take(.failed(.cancelled()))
                }
                return tape.opened(socket.response).map { RecordingSocket(socket, tape: $0) } ?? socket
            } catch let refusal as HTTPSession.WebSocket.Refusal {
                _ = tape.take(.head(refusal.response))
                if !refusal.body.isEmpty { _ = tape.take(.chunk(refusal.body)) }
                _ = tape.take(.end)
                throw refusal
            } catch {
                _ = tape.take(.failed(TransportFailure(error, of: request, isAnswered: false)))
                throw error
            }
        }
    }

    /// Gives the recorder the body first; may block.
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
        case .replay(let index, let form):
            // The decision is `replay` only if there is a player.
            guard let player = self.cassette.player else { return FinishedTask.shared }
            request.ruled?.answers(with: index)
            return player.play(index, form, for: request, clock: self.clock, receive: receive)
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

/// Records what a rule answers, whatever the cassette has.
struct MadeAnswerTransport: Transport {
    let cassette: Cassette
    /// Makes the answer.
    let inner: any Transport
    let clock: any Clock<Duration>

    func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
        guard let recording = self.cassette.recording else { return self.inner.start(request, receive: receive) }
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

/// An exchange that is recorded while another transport carries it.
private final class RecordingTask: ExplainedTask {
    private struct State: Sendable {
        var inner: (any TransportTask)?
        /// The receiver has paused.
        var isPaused = false
        /// It resumed while an event was being delivered.
        var wasResumed = false
        /// The recorder's queue is full.
        var isFull = false
        /// `cancel` or `resume` was called before there was an inner task.
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
            // Released after the last event, because the inner task retains this one.
            state.inner = state.isOver ? nil : task
            return (state.wantsCancel, state.wantsResume)
        }
        if cancels { task.cancel() } else if resumes { task.resume() }
        return self
    }

    private func take(_ event: TransportEvent) -> Demand {
        self.state.withLock { $0.wasResumed = false }
        let (shown, isFull) = self.tape.take(event)
        let demand = self.receive(shown)
        guard !shown.isLast else {
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

    func explain(_ failure: TransportFailure) { self.tape.isGivenUp(dueTo: failure) }

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

    /// Resumes the inner transport if neither the receiver nor the recorder needs it paused.
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
