/// Cancels synchronous work: the counterpart of `Task.cancel()` and `Task.isCancelled` for threads that run no task.
///
/// The work checks at its own pace whether it was cancelled. Any thread may cancel.
package final class WorkCancellation: Sendable {
    private struct State: Sendable {
        var isCancelled = false
        var calls: [@Sendable () -> Void] = []
    }

    /// The instance that the current thread's work belongs to.
    @TaskLocal private static var current: WorkCancellation?

    private let state = Guarded(State())

    package init() {}

    /// Runs work that this instance can cancel. Threads started by the work do not belong to it.
    package func run<Result>(_ work: () throws -> Result) rethrows -> Result {
        try Self.$current.withValue(self, operation: work)
    }

    package func cancel() {
        let calls = self.state.withLock { state in
            state.isCancelled = true
            defer { state.calls = [] }
            return state.calls
        }
        for call in calls { call() }
    }

    package var isCancelled: Bool { self.state.withLock { $0.isCancelled } }

    /// Whether the current thread's work was cancelled; false for work that belongs to no instance.
    package static var isCancelled: Bool { self.current?.isCancelled ?? false }

    /// Calls back when the current thread's work is cancelled, or at once if it already was. For work that waits for something else.
    ///
    /// - Parameter call: called on the thread that cancels.
    package static func onCancel(_ call: @escaping @Sendable () -> Void) {
        guard let current else { return }
        let isCancelled = current.state.withLock { state in
            if !state.isCancelled { state.calls.append(call) }
            return state.isCancelled
        }
        if isCancelled { call() }
    }
}
