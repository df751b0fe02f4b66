internal import TapeBytes

/// A clock without waits: a sleep returns at once and moves the time to its deadline.
///
/// For waits that only make sense with a real server, such as back-off before retries and recorded delays. A session with this clock has no
/// timeouts: each would be exceeded at once.
public struct ImmediateClock: Clock, Sendable {
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

    /// - Throws: `CancellationError` if the task is cancelled; the time then does not change.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        self.time.withLock { $0 = max($0, deadline) }
        // A task that sleeps in a loop must not starve the others.
        await Task.yield()
    }
}

extension Clock where Self == ImmediateClock {
    /// A new clock, at zero.
    public static var immediate: ImmediateClock { ImmediateClock() }
}
