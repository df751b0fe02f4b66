import Testing
import Wiretape

@Suite struct StopwatchTests {
    @Test func itMeasuresFromItsStartOnAnyClock() {
        let clock = ManualClock()
        clock.advance(by: .seconds(5))
        let watch = Stopwatch(clock)
        #expect(watch.elapsed == .zero)
        clock.advance(by: .milliseconds(1500))
        #expect(watch.elapsed == .milliseconds(1500))
        let real = Stopwatch()
        let first = real.elapsed
        #expect(first >= .zero && real.elapsed >= first)
    }
}
