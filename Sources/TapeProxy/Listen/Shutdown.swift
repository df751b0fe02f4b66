internal import NIOConcurrencyHelpers
internal import TapeBytes

/// Stops a server once, however often it is requested, and makes every caller wait for it.
final class Shutdown: Sendable {
    private struct State {
        var isWanted = false
        var hasBegun = false
        /// Callers of `wanted`, who serve until a stop is requested.
        var serving: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Guarded(State())
    private let isOver = ConditionLock(value: false)

    /// Runs the work for the first caller; later callers wait until it is done. Blocks.
    ///
    /// - Returns: the result of the work; nil for all but the first caller.
    func perform<Result>(_ work: () -> Result) -> Result? {
        let isFirst = self.state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
        guard isFirst else {
            self.isOver.lock(whenValue: true)
            self.isOver.unlock()
            return nil
        }
        self.want()
        let result = work()
        self.isOver.lock()
        self.isOver.unlock(withValue: true)
        return result
    }

    /// Requests the stop, which resumes the callers of `wanted`.
    func want() {
        let serving = self.state.withLock { state in
            state.isWanted = true
            defer { state.serving = [] }
            return state.serving
        }
        for continuation in serving { continuation.resume() }
    }

    /// Returns when the stop is requested or the task is cancelled.
    func wanted() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isWanted = self.state.withLock { state in
                    if !state.isWanted { state.serving.append(continuation) }
                    return state.isWanted
                }
                if isWanted { continuation.resume() }
            }
        } onCancel: {
            self.want()
        }
    }
}
