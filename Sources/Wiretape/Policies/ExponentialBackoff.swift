internal import TapeBytes

/// How long to wait before a request is sent again: `scale` × `base` to the power of the retries so far, less a seeded jitter.
///
/// A value: the same seed gives the same times, in every process and on every platform.
public struct ExponentialBackoff: Sendable, Hashable {
    /// At least 1.
    public let base: UInt
    /// The time before the first retry, without jitter.
    public let scale: Duration
    /// No time is longer.
    public let limit: Duration
    /// The part of the time that chance may take off, from 0 (none) to 1 (all): clients that failed together do not come back together.
    public let jitter: Double
    public let seed: UInt64

    /// - Parameter seed: chance by default, so that two processes differ; give one where times are to be the same each time.
    public init(
        base: UInt = 2, scale: Duration = .milliseconds(500), limit: Duration = .seconds(300), jitter: Double = 0.5,
        seed: UInt64 = .random(in: 0 ... .max)
    ) {
        self.base = max(base, 1)
        self.scale = max(scale, .zero)
        self.limit = max(limit, .zero)
        self.jitter = jitter.isNaN ? 0 : min(max(jitter, 0), 1)
        self.seed = seed
    }

    /// - Parameter retryCount: how often the request was sent again: 0 before the first retry.
    public func delay(retryCount: Int) -> Duration {
        var delay = min(self.scale, self.limit)
        for _ in 0..<max(retryCount, 0) {
            guard delay < self.limit, self.base > 1, delay > .zero else { break }
            // Compared before it is multiplied: past the limit it may have no end.
            delay = delay > self.limit / Int(clamping: self.base) ? self.limit : delay * Int(clamping: self.base)
        }
        // Each retry has a generator of its own, so that a time does not depend on those before it.
        var generator = SplitMix64(seed: self.seed &+ UInt64(clamping: retryCount) &* 0xd134_2543_de82_ef95)
        let part = self.jitter * Double(generator.next() >> 11) / Double(1 << 53 as UInt64)
        return delay * (1 - part)
    }
}
