internal import Dispatch
internal import Platform

/// A thread for work that mostly waits.
///
/// Dispatch limits its pool: while about a hundred threads wait, new work never begins.
package enum DedicatedThread {
    private final class Work {
        let run: () -> Void

        init(_ run: @escaping () -> Void) { self.run = run }
    }

    /// - Returns: whether a thread was created; if not, the work never runs.
    package static func start(_ run: @escaping @Sendable () -> Void) -> Bool {
        let work = Unmanaged.passRetained(Work(run))
        #if canImport(Darwin)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        // SAFETY: the new thread releases the reference; if there is none, the code below does.
        let status = pthread_create(
            &thread, nil,
            { pointer in
                #if canImport(Darwin)
                Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().run()
                #else
                if let pointer { Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().run() }
                #endif
                return nil
            }, work.toOpaque())
        guard status == 0 else {
            work.release()
            return false
        }
        #if canImport(Darwin)
        if let thread { pthread_detach(thread) }
        #else
        pthread_detach(thread)
        #endif
        return true
    }
}

/// Runs blocking work for a task on its own thread, since tasks and Dispatch have only about as many threads as there are cores.
package enum BlockingWork {
    package static func run<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        let work = Guarded<(@Sendable () -> Result)?>(work)
        return await withCheckedContinuation { continuation in
            let run: @Sendable () -> Void = {
                // Taken out of `work`, so that the closure and its captures are released before the caller continues.
                guard let taken = Self.take(work) else { preconditionFailure("blocking work runs once: this closure is called once") }
                continuation.resume(returning: taken())
            }
            // If no thread can be started, Dispatch runs the work later.
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
