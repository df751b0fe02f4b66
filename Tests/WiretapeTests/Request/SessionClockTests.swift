import Testing

@testable import Wiretape

@Suite struct SessionClockTests {
    @Test func timesCountFromItsMaking() async throws {
        let manual = ManualClock()
        manual.advance(by: .seconds(7))
        let clock = SessionClock(manual)
        #expect(!clock.isImmediate)
        #expect(SessionClock(ImmediateClock()).isImmediate)
        manual.advance(by: .seconds(2))
        #expect(clock.elapsed() == .seconds(2))
        async let slept: Void = clock.sleep(.seconds(3))
        await manual.sleepers(1)
        manual.advance(by: .seconds(3))
        try await slept
        #expect(clock.elapsed() == .seconds(5))
    }
}
