internal import TapeBytes

/// A clock that never lets anybody wait: a sleep returns at once, and the time is then as if it had passed.
///
/// For waits that only make sense with a real server: the back-off of retries, recorded delays. A session with this clock keeps no limits of
/// time: each would be over before its work has begun.
public struct ImmediateClock: Clock, Sendable {
    /// A time of this clock.
    public struct Instant: InstantProtocol, Sendable {
        /// Since the clock was made.
        public var offset: Duration

        public init(offset: Duration = .zero) { self.offset = offset }

        public func advanced(by duration: Duration) -> Instant { Instant(offset: self.offset + duration) }

        public func duration(to other: Instant) -> Duration { other.offset - self.offset }

        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let time: Guarded<Instant>

    /// A copy shows the same time.
    public init(now: Instant = Instant()) { self.time = Guarded(now) }

    public var now: Instant { self.time.withLock { $0 } }

    public var minimumResolution: Duration { .zero }

    /// - Throws: `CancellationError` where the task is cancelled; the time then stays.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        self.time.withLock { $0 = max($0, deadline) }
        // Who sleeps again and again must not keep all others from running.
        await Task.yield()
    }
}

extension Clock where Self == ImmediateClock {
    /// A new one, at nought.
    public static var immediate: ImmediateClock { ImmediateClock() }
}
