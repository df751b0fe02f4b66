/// A clock whose times are durations since this value was made.
struct SessionClock: Sendable {
    let elapsed: @Sendable () -> Duration
    let sleep: @Sendable (Duration) async throws -> Void

    init(_ clock: any Clock<Duration>) { self = Self.opened(clock) }

    private init(elapsed: @escaping @Sendable () -> Duration, sleep: @escaping @Sendable (Duration) async throws -> Void) {
        self.elapsed = elapsed
        self.sleep = sleep
    }

    private static func opened<C: Clock>(_ clock: C) -> SessionClock where C.Duration == Duration {
        let origin = clock.now
        return SessionClock(
            elapsed: { origin.duration(to: clock.now) },
            sleep: { try await clock.sleep(until: clock.now.advanced(by: $0), tolerance: nil) }
        )
    }
}
