import Testing
@testable import Wiretape

@Suite struct ElapsedClockTests {
    @Test func timesCountFromItsMaking() async throws {
        let manual = ManualClock()
        manual.advance(by: .seconds(7))
        let clock = ElapsedClock(manual)
        #expect(!clock.isImmediate && clock.elapsed == .zero)
        #expect(ElapsedClock(ImmediateClock()).isImmediate)
        manual.advance(by: .milliseconds(2500))
        #expect(clock.elapsed == .milliseconds(2500) && clock.milliseconds == 2500)
        async let slept: Void = clock.sleep(for: .seconds(3))
        await manual.sleepers(1)
        manual.advance(by: .seconds(3))
        try await slept
        #expect(clock.elapsed == .milliseconds(5500))
    }

    @Test func itSleepsUntilATime() async throws {
        let manual = ManualClock()
        let clock = ElapsedClock(manual)
        let sleeper = Task { try await clock.sleep(until: 250.5) }
        await manual.sleepers(1)
        manual.advance(by: .microseconds(250_499))
        #expect(manual.sleeperCount == 1)
        manual.advance(by: .microseconds(1))
        try await sleeper.value
        #expect(clock.milliseconds == 250.5)
        try await clock.sleep(until: 10)
    }

    @Test func withoutAClockItIsTheContinuousOne() {
        let clock = ElapsedClock()
        let first = clock.elapsed
        #expect(first >= .zero && clock.elapsed >= first)
    }
}
