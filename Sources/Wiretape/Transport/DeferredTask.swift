internal import Dispatch
internal import TapeBytes

/// An exchange that begins after work on another thread, such as reading a file.
final class DeferredTask: ExplainedTask {
    /// What follows the work.
    struct Prepared: Sendable {
        let start: @Sendable () -> any TransportTask
        /// Called in place of `start` if the exchange was cancelled meanwhile.
        var discard: @Sendable () -> Void = {}
    }

    private struct State: Sendable {
        var task: (any TransportTask)?
        var hasBegun = false
        var isCancelled = false
        /// `resume` came before there was a task.
        var wantsResume = false
    }

    private let receive: @Sendable (TransportEvent) -> Demand
    private let state = Guarded(State())

    /// - Parameter prepare: may block: it runs on a global queue.
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

/// A task that records why its exchange is given up, so that a replay ends in the same way.
protocol ExplainedTask: TransportTask {
    /// `cancel`, with the failure that the client ends with instead of a cancellation.
    func cancel(dueTo failure: TransportFailure)
}

extension TransportTask {
    /// Cancels it, with the reason if it records reasons.
    func giveUp(dueTo failure: TransportFailure) {
        if let task = self as? any ExplainedTask { task.cancel(dueTo: failure) } else { self.cancel() }
    }
}

/// An exchange that ended inside `start`.
struct FinishedTask: TransportTask {
    static let shared = FinishedTask()

    func cancel() {}
    func resume() {}
}
