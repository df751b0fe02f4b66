internal import Dispatch
internal import TapeCore

/// An exchange that begins once something has been done on another thread.
final class DeferredTask: TransportTask {
    private struct State: Sendable {
        var task: (any TransportTask)?
        var hasBegun = false
        var isCancelled = false
    }

    private let receive: @Sendable (TransportEvent) -> Demand
    private let state = Guarded(State())

    /// - Parameter begin: does what takes long, and gives back what starts the exchange.
    init(
        receive: @escaping @Sendable (TransportEvent) -> Demand,
        begin: @escaping @Sendable () -> @Sendable () -> any TransportTask
    ) {
        self.receive = receive
        DispatchQueue.global().async {
            let start = begin()
            let isCancelled = self.state.withLock { state in
                state.hasBegun = !state.isCancelled
                return state.isCancelled
            }
            guard !isCancelled else { return }
            let task = start()
            let wasCancelled = self.state.withLock { state in
                state.task = task
                return state.isCancelled
            }
            if wasCancelled { task.cancel() }
        }
    }

    func cancel() {
        let (task, isFirst) = self.state.withLock { state in
            defer { state.isCancelled = true }
            return (state.task, !state.isCancelled && !state.hasBegun)
        }
        if isFirst { _ = self.receive(.failed(.cancelled())) }
        task?.cancel()
    }

    func resume() { self.state.withLock { $0.task }?.resume() }
}
