internal import Dispatch
internal import TapeBytes
internal import TapeRecorder

/// Runs blocking work for a task on a thread of its own, since tasks and Dispatch have only as many threads as there are cores.
enum BlockingWork {
    static func run<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        let work = Guarded<(@Sendable () -> Result)?>(work)
        return await withCheckedContinuation { continuation in
            let run: @Sendable () -> Void = {
                // Taken out, so that the closure and what it captured are released before the caller goes on.
                guard let taken = Self.take(work) else { preconditionFailure("blocking work runs once: this closure is called once") }
                continuation.resume(returning: taken())
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
