import Testing

@testable import Wiretape

@Suite struct ElapsedTimeTests {
    @Test func itCountsFromItsStartOnAnyClock() {
        let clock = ManualClock()
        clock.advance(by: .seconds(5))
        let time = ElapsedTime(clock)
        #expect(time.duration == .zero)
        clock.advance(by: .milliseconds(1500))
        #expect(time.duration == .milliseconds(1500))
        let real = ElapsedTime()
        let first = real.duration
        #expect(first >= .zero && real.duration >= first)
    }
}
