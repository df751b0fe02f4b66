/// Measures from a moment on, whatever kind of clock there is.
public struct Stopwatch: Sendable {
    private let measure: @Sendable () -> Duration

    /// Starts now.
    public init(_ clock: any Clock<Duration> = ContinuousClock()) { self.measure = Self.started(clock) }

    /// Since the start.
    public var elapsed: Duration { self.measure() }

    private static func started<Time: Clock<Duration>>(_ clock: Time) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}
