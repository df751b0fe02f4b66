internal import Platform

/// A thread for work that waits most of its time.
///
/// Dispatch's threads are a pool with an end to it: with some hundred of them waiting, the next work never begins.
package enum OwnThread {
    private final class Work {
        let run: () -> Void

        init(_ run: @escaping () -> Void) { self.run = run }
    }

    /// - Returns: whether there is a thread; else the work is never done.
    package static func start(_ run: @escaping @Sendable () -> Void) -> Bool {
        let work = Unmanaged.passRetained(Work(run))
        #if canImport(Darwin)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        // SAFETY: the one who takes what was retained is the new thread, or this one where there is none.
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
