internal import Dispatch
internal import TapeBytes

/// An exchange that begins once something has been done on another thread.
final class DeferredTask: ExplainedTask {
    /// What is to be done when all is prepared.
    struct Prepared: Sendable {
        let start: @Sendable () -> any TransportTask
        /// Called in its place where the exchange was cancelled meanwhile.
        var discard: @Sendable () -> Void = {}
    }

    private struct State: Sendable {
        var task: (any TransportTask)?
        var hasBegun = false
        var isCancelled = false
        /// Asked for while the exchange was about to begin.
        var wantsResume = false
    }

    private let receive: @Sendable (TransportEvent) -> Demand
    private let state = Guarded(State())

    /// - Parameter prepare: does what takes long.
    init(receive: @escaping @Sendable (TransportEvent) -> Demand, prepare: @escaping @Sendable () -> Prepared) {
        self.receive = receive
        DispatchQueue.global().async {
            let prepared = prepare()
            let isCancelled = self.state.withLock { state in
                state.hasBegun = !state.isCancelled
                return state.isCancelled
            }
            guard !isCancelled else { return prepared.discard() }
            let task = prepared.start()
            let (wasCancelled, wasResumed) = self.state.withLock { state in
                state.task = task
                return (state.isCancelled, state.wantsResume)
            }
            if wasCancelled { task.cancel() } else if wasResumed { task.resume() }
        }
    }

    func cancel() { self.cancel { $0.cancel() } }

    func cancel(dueTo failure: TransportFailure) { self.cancel { $0.giveUp(dueTo: failure) } }

    private func cancel(_ inner: (any TransportTask) -> Void) {
        let (task, isFirst) = self.state.withLock { state in
            defer { state.isCancelled = true }
            return (state.task, !state.isCancelled && !state.hasBegun)
        }
        if isFirst { _ = self.receive(.failed(.cancelled())) }
        if let task { inner(task) }
    }

    func resume() {
        let task = self.state.withLock { state in
            state.wantsResume = state.task == nil
            return state.task
        }
        task?.resume()
    }
}
