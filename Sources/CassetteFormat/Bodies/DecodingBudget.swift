/// How much time the recorder may spend decoding bodies while traffic is waiting: a token bucket in nanoseconds.
///
/// Has no clock: the caller passes the time of a monotonic one. A time before the last one means that no time has passed.
public struct DecodingBudget: Sendable, Hashable {
    /// Decoding takes at most one part in this many of the elapsed time: 2 %.
    public static let share: UInt64 = 50
    /// How many nanoseconds can be saved up: 50 ms, which a search for gzip parameters may use at once.
    public static let cap: Int64 = 50_000_000

    /// Nanoseconds left; negative after a body that took longer than was left.
    public private(set) var balance: Int64
    private var last: UInt64

    public init(now: UInt64) {
        self.balance = Self.cap
        self.last = now
    }

    public mutating func mayDecode(now: UInt64) -> Bool {
        self.refill(now)
        return self.balance > 0
    }

    public mutating func spent(_ nanoseconds: UInt64, now: UInt64) {
        self.refill(now)
        let cost = Int64(clamping: nanoseconds)
        let (rest, overflow) = self.balance.subtractingReportingOverflow(cost)
        self.balance = overflow ? .min : rest
    }

    private mutating func refill(_ now: UInt64) {
        guard now > self.last else { return }
        let earned = (now - self.last) / Self.share
        guard earned > 0 else { return }
        // The remainder is kept, so that many short steps earn as much as one long step.
        self.last += earned * Self.share
        let (sum, overflow) = self.balance.addingReportingOverflow(Int64(clamping: earned))
        self.balance = overflow ? Self.cap : min(sum, Self.cap)
    }
}
