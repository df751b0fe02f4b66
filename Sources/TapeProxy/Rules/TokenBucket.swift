internal import NIOCore
internal import TapeBytes

/// Limits the rate of bytes: callers reserve bytes, and send them when the bucket says.
///
/// Reservations are served in the order in which they are made, so that streams that share a bucket share its rate. Safe to use from any
/// thread.
final class TokenBucket: Sendable {
    /// Bytes a second.
    let rate: Double
    /// Bytes that may be sent at once after a pause.
    private let burst: Double
    /// When all bytes reserved so far have been sent, in nanoseconds of the clock.
    private let end = Guarded(0.0)

    /// - Parameters:
    ///   - rate: bytes a second; above zero.
    ///   - burst: bytes that need not wait after a pause.
    init(rate: Double, burst: Int = 0) {
        self.rate = rate
        self.burst = Double(burst)
    }

    /// Reserves bytes.
    ///
    /// - Returns: when the last of them may be sent: `now` or later.
    func reserve(_ count: Int, now: NIODeadline) -> NIODeadline {
        let nanoseconds = Double(now.uptimeNanoseconds)
        let end = self.end.withLock { end in
            end = max(end, nanoseconds - self.burst / self.rate * 1e9) + Double(count) / self.rate * 1e9
            return end
        }
        return now + .nanoseconds(Int64(max(0, end - nanoseconds)))
    }

    /// Bytes to reserve at once: a twentieth of a second's, so that the rate is even, within limits that keep the number of writes small.
    var portion: Int { Int(min(max(self.rate / 20, 256), 64 * 1024)) }
}
