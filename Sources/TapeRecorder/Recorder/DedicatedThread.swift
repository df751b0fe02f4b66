internal import Platform

/// A thread for work that mostly waits.
///
/// Dispatch's pool has a limit: with about a hundred threads waiting, the next work never begins.
package enum DedicatedThread {
    private final class Work {
        let run: () -> Void

        init(_ run: @escaping () -> Void) { self.run = run }
    }

    /// - Returns: whether a thread was created; if not, the work is never done.
    package static func start(_ run: @escaping @Sendable () -> Void) -> Bool {
        let work = Unmanaged.passRetained(Work(run))
        #if canImport(Darwin)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        // SAFETY: the reference is released by the new thread, or below if there is none.
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

/// The system's monotonic clock, which setting the date does not change.
enum MonotonicClock {
    /// Nanoseconds since a fixed instant.
    static var now: UInt64 {
        var now = timespec()
        // Cannot fail: all supported systems have this clock.
        clock_gettime(CLOCK_MONOTONIC, &now)
        return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
    }
}
