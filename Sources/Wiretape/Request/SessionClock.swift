/// A clock whose times are durations since this value was made.
struct SessionClock: Sendable {
    let elapsed: @Sendable () -> Duration
    let sleep: @Sendable (Duration) async throws -> Void
    /// Whether nobody waits for it: a limit of time would be over at once.
    let isImmediate: Bool

    init(_ clock: any Clock<Duration>) { self = Self.opened(clock) }

    private init(
        elapsed: @escaping @Sendable () -> Duration, sleep: @escaping @Sendable (Duration) async throws -> Void, isImmediate: Bool
    ) {
        self.elapsed = elapsed
        self.sleep = sleep
        self.isImmediate = isImmediate
    }

    private static func opened<C: Clock>(_ clock: C) -> SessionClock where C.Duration == Duration {
        let origin = clock.now
        return SessionClock(
            elapsed: { origin.duration(to: clock.now) },
            sleep: { try await clock.sleep(until: clock.now.advanced(by: $0), tolerance: nil) },
            isImmediate: clock is ImmediateClock
        )
    }
}
