/// The time since a moment, on whatever kind of clock there is.
struct ElapsedTime: Sendable {
    private let measure: @Sendable () -> Duration

    /// Counts from now on.
    init(_ clock: any Clock<Duration> = ContinuousClock()) { self.measure = Self.started(clock) }

    var duration: Duration { self.measure() }

    private static func started<Time: Clock<Duration>>(_ clock: Time) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}
