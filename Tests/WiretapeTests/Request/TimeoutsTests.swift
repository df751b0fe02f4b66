import Testing
@testable import Wiretape

@Suite struct TimeoutWatchTests {
    @Test func idleTimeCountsFromTheLastThingThatHappened() {
        var watch = TimeoutWatch(HTTPSession.Timeouts(idle: .milliseconds(500)), start: .seconds(1))
        #expect(watch.verdict(at: .seconds(1), isWaiting: true) == .look(at: .milliseconds(1500)))
        watch.somethingHappened(at: .milliseconds(1400))
        #expect(watch.verdict(at: .milliseconds(1500), isWaiting: true) == .look(at: .milliseconds(1900)))
        #expect(watch.verdict(at: .milliseconds(1900), isWaiting: true) == .exceeded(.idle(.milliseconds(500))))
    }

    @Test func noTimeCountsWhileNothingIsAwaited() {
        let watch = TimeoutWatch(HTTPSession.Timeouts(idle: .seconds(1)), start: .zero)
        #expect(watch.verdict(at: .seconds(9), isWaiting: false) == .look(at: .seconds(10)))
    }

    @Test func theTotalTimeRunsOn() {
        var watch = TimeoutWatch(HTTPSession.Timeouts(idle: .seconds(5), total: .seconds(2)), start: .zero)
        watch.somethingHappened(at: .seconds(1))
        #expect(watch.verdict(at: .seconds(1), isWaiting: true) == .look(at: .seconds(2)))
        #expect(watch.verdict(at: .seconds(2), isWaiting: false) == .exceeded(.total(.seconds(2))))
    }

    @Test func withoutLimitsThereIsNothingToLookFor() {
        #expect(TimeoutWatch(HTTPSession.Timeouts(idle: nil), start: .zero).verdict(at: .seconds(900), isWaiting: true) == .never)
    }
}
