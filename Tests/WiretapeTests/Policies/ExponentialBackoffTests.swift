import Testing
import Wiretape

@Suite struct ExponentialBackoffTests {
    @Test func withoutJitterTimesDouble() {
        let backoff = ExponentialBackoff(jitter: 0)
        #expect((0..<4).map { backoff.delay(retryCount: $0) } == [.milliseconds(500), .seconds(1), .seconds(2), .seconds(4)])
        #expect(ExponentialBackoff(base: 3, scale: .seconds(1), jitter: 0).delay(retryCount: 3) == .seconds(27))
        #expect(ExponentialBackoff(base: 0, scale: .seconds(1), jitter: 0).delay(retryCount: 1000) == .seconds(1))
    }

    @Test func noTimePassesTheLimit() {
        let backoff = ExponentialBackoff(jitter: 0)
        for count in [10, 63, 64, 10_000, .max] { #expect(backoff.delay(retryCount: count) == .seconds(300)) }
        #expect(ExponentialBackoff(base: .max, jitter: 0).delay(retryCount: 5) == .seconds(300))
        #expect(ExponentialBackoff(scale: .seconds(10), limit: .seconds(3), jitter: 0).delay(retryCount: 0) == .seconds(3))
        #expect(backoff.delay(retryCount: -1) == .milliseconds(500))
    }

    @Test func aSeedGivesTheSameTimesAndStaysWithinTheJitter() {
        var seen: Set<Duration> = []
        for seed in 0..<200 as Range<UInt64> {
            let backoff = ExponentialBackoff(jitter: 0.25, seed: seed)
            for count in 0..<5 {
                let whole = ExponentialBackoff(jitter: 0).delay(retryCount: count)
                let delay = backoff.delay(retryCount: count)
                #expect(delay == ExponentialBackoff(jitter: 0.25, seed: seed).delay(retryCount: count))
                #expect(delay <= whole && delay >= whole * 0.75)
                seen.insert(delay)
            }
        }
        #expect(seen.count > 990)
    }

    @Test func oddSettingsAreTakenForTheNearestThatMakeSense() {
        #expect(
            ExponentialBackoff(jitter: .nan).jitter == 0 && ExponentialBackoff(jitter: 7).jitter == 1
                && ExponentialBackoff(jitter: -1).jitter == 0)
        #expect(ExponentialBackoff(scale: .seconds(-1), jitter: 0).delay(retryCount: 3) == .zero)
        #expect(ExponentialBackoff().seed != ExponentialBackoff().seed)
    }
}
