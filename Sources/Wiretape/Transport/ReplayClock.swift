/// Time on a clock of any kind, counted from a beginning, in milliseconds.
struct ReplayClock: Sendable {
    private let elapsed: @Sendable () -> Duration
    private let sleepFor: @Sendable (Duration) async throws -> Void

    init(_ clock: any Clock<Duration>) { self.init(starting: clock) }

    private init(starting clock: some Clock<Duration>) {
        let start = clock.now
        self.elapsed = { start.duration(to: clock.now) }
        self.sleepFor = { try await clock.sleep(for: $0) }
    }

    var now: Double { Self.milliseconds(self.elapsed()) }

    /// Throws when the task is cancelled.
    func sleep(until due: Double) async throws {
        let left = due - self.now
        // Rounded up: what is due later must not find itself too early.
        if left > 0 { try await self.sleepFor(.nanoseconds(Int64((left * 1e6).rounded(.up)))) }
    }

    static func milliseconds(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = duration.components
        return Double(seconds) * 1e3 + Double(attoseconds) / 1e15
    }
}
