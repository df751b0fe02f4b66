internal import CassettePlayback
internal import NIOCore

/// The schedule of one answer against the event loop's clock: calls back when a part is due, with one timer at a time.
///
/// Not Sendable: lives on its event loop.
final class ReplayPace {
    private let proxy: ProxyContext
    private let start: NIODeadline
    private var schedule: ReplaySchedule
    private var timer: Scheduled<Void>?

    init(_ schedule: ReplaySchedule, start: NIODeadline, proxy: ProxyContext) {
        self.schedule = schedule
        self.start = start
        self.proxy = proxy
    }

    var head: Double { self.schedule.head }
    var end: Double { self.schedule.end }
    /// Whether the body has times of its own.
    var pacesBody: Bool { self.schedule.isFromStart }
    /// Whether a part is not due yet.
    var isWaiting: Bool { self.timer != nil }

    func interim(at: Double) -> Double { self.schedule.interim(at: at) }

    /// How many bytes of the body are due; nil for all.
    func count() -> Int? { self.schedule.count(by: self.elapsed) }

    /// When more are due than `count` said last.
    var nextDue: Double? { self.schedule.nextDue }

    private var elapsed: Double { Double((self.proxy.loop.now - self.start).nanoseconds) / 1e6 }

    func isDue(_ due: Double) -> Bool { due <= self.elapsed }

    /// Calls back when it is time, now where it is past. Whoever waited before waits no longer.
    func wait(until due: Double, then: @escaping () -> Void) {
        self.stop()
        let left = due - self.elapsed
        guard left > 0 else { return then() }
        // Rounded up: what is due later must not find itself too early.
        self.timer = self.proxy.loop.assumeIsolated().scheduleTask(in: .nanoseconds(Int64((left * 1e6).rounded(.up)))) { [weak self] in
            guard let self else { return }
            self.timer = nil
            self.proxy.readClock()
            then()
        }
    }

    func stop() {
        self.timer?.cancel()
        self.timer = nil
    }
}
