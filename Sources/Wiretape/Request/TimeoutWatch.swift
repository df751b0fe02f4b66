/// Says when a request has taken too long.
///
/// Times are durations since any fixed moment. Knows no clock: it is told the time and answers when to look again.
struct TimeoutWatch: Sendable {
    enum Limit: Sendable, Hashable {
        case idle(Duration)
        case total(Duration)
    }

    enum Verdict: Sendable, Hashable {
        case exceeded(Limit)
        /// Nothing before that time.
        case look(at: Duration)
        /// No limit applies.
        case never
    }

    var timeouts: Timeouts
    /// When the request began.
    private let start: Duration
    /// When something last happened.
    private var last: Duration

    init(_ timeouts: Timeouts, start: Duration) {
        self.timeouts = timeouts
        self.start = start
        self.last = start
    }

    mutating func somethingHappened(at time: Duration) { self.last = time }

    /// - Parameter isWaiting: whether the request waits for the other side at all.
    func verdict(at now: Duration, isWaiting: Bool) -> Verdict {
        var next: Duration?
        if let total = self.timeouts.total {
            guard now < self.start + total else { return .exceeded(.total(total)) }
            next = self.start + total
        }
        if let idle = self.timeouts.idle {
            let from = isWaiting ? self.last : now
            guard now < from + idle else { return .exceeded(.idle(idle)) }
            next = min(next ?? from + idle, from + idle)
        }
        return next.map { .look(at: $0) } ?? .never
    }
}
