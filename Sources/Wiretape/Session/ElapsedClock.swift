/// Measures the time since this value was created, on any clock.
struct ElapsedClock: Sendable {
    /// Whether sleeps return at once, so that every timeout would be exceeded at once.
    let isImmediate: Bool
    private let measure: @Sendable () -> Duration
    private let wait: @Sendable (Duration) async throws -> Void

    init(_ clock: any Clock<Duration> = ContinuousClock()) { self.init(starting: clock) }

    private init(starting clock: some Clock<Duration>) {
        let start = clock.now
        self.isImmediate = clock is ImmediateClock
        self.measure = { start.duration(to: clock.now) }
        self.wait = { try await clock.sleep(until: clock.now.advanced(by: $0), tolerance: nil) }
    }

    var elapsed: Duration { self.measure() }
    var milliseconds: Double { self.elapsed.milliseconds }

    /// Throws when the task is cancelled.
    func sleep(for duration: Duration) async throws { try await self.wait(duration) }

    /// - Parameter due: in milliseconds since this value was made.
    ///
    /// Throws when the task is cancelled.
    func sleep(until due: Double) async throws {
        let left = due - self.milliseconds
        // Rounded up, so that it does not wake early.
        if left > 0 { try await self.wait(.nanoseconds(Int64((left * 1e6).rounded(.up)))) }
    }
}
