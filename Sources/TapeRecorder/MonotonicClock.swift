internal import Platform

/// The system's clock that never goes back, whatever the date is set to.
enum MonotonicClock {
    /// Nanoseconds since an instant that is the same for the whole process.
    static var now: UInt64 {
        var now = timespec()
        // Fails only for a clock that the system does not have, and POSIX systems have this one.
        clock_gettime(CLOCK_MONOTONIC, &now)
        return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
    }
}
