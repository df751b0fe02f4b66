internal import Dispatch
internal import NIOConcurrencyHelpers
internal import TapeBytes
internal import TapeRecorder

/// A server's stop: done once, whoever asks for it how often, and awaited by all who ask.
final class Shutdown: Sendable {
    private struct State {
        var isWanted = false
        var hasBegun = false
        /// Those who serve until a stop is wanted.
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

    /// Somebody wants the stop: those in `wanted` go on.
    func want() {
        let serving = self.state.withLock { state in
            state.isWanted = true
            defer { state.serving = [] }
            return state.serving
        }
        for continuation in serving { continuation.resume() }
    }

    /// Returns when somebody wants the stop, or the task is cancelled.
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

/// Runs blocking work for a task on a thread of its own, since tasks and Dispatch have only as many threads as there are cores.
enum BlockingWork {
    static func run<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        let work = Guarded<(@Sendable () -> Result)?>(work)
        return await withCheckedContinuation { continuation in
            let run: @Sendable () -> Void = {
                // Taken out, so that its thread holds nothing of the caller's any more when the caller goes on.
                guard let result = Self.take(work)?() else { return }
                continuation.resume(returning: result)
            }
            // If no thread can be started, Dispatch runs it later.
            if !DedicatedThread.start(run) { DispatchQueue.global().async(execute: run) }
        }
    }

    private static func take<Work: Sendable>(_ work: Guarded<Work?>) -> Work? {
        work.withLock { held in
            defer { held = nil }
            return held
        }
    }
}
