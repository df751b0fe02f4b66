internal import TapeBytes

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
