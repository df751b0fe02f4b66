import Testing

@testable import Wiretape

@Suite struct ReplayClockTests {
    @Test func itCountsFromItsBeginningAndSleepsUntilATime() async throws {
        let clock = ManualClock()
        clock.advance(by: .seconds(5))
        let replay = ReplayClock(clock)
        #expect(replay.now == 0)
        let sleeper = Task { try await replay.sleep(until: 250.5) }
        await clock.sleepers(1)
        clock.advance(by: .microseconds(250_499))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .microseconds(1))
        try await sleeper.value
        #expect(replay.now == 250.5)
        try await replay.sleep(until: 10)
    }

    @Test func durationsAreMilliseconds() {
        #expect(ReplayClock.milliseconds(.seconds(2)) == 2000)
        #expect(ReplayClock.milliseconds(.microseconds(1)) == 0.001)
    }
}
