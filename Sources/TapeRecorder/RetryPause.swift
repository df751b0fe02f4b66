/// When to try again what has failed: after a pause that doubles with each failure.
///
/// Has no clock: the caller passes the time of one that never goes back, in nanoseconds.
struct RetryPause {
    /// 50 ms: what an attempt costs at most (16 MiB copied, cut off again and synced) is a small part of it.
    static let first: UInt64 = 50_000_000
    /// 2 s: as long as somebody who has made room should wait.
    static let longest: UInt64 = 2_000_000_000

    private var pause: UInt64 = 0
    /// The earliest moment of the next attempt.
    private(set) var next: UInt64 = 0

    mutating func failed(at now: UInt64) {
        self.pause = self.pause == 0 ? Self.first : min(2 * self.pause, Self.longest)
        self.next = now + self.pause
    }

    mutating func succeeded() {
        self = RetryPause()
    }

    func mayTry(at now: UInt64) -> Bool { now >= self.next }
}
