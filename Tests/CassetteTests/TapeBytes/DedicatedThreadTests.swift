import Dispatch
@testable import TapeBytes
import Testing

@Suite struct DedicatedThreadTests {
    @Test func hundredsMayWaitAtOnce() {
        let (begun, go, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let count = 300
        for _ in 0..<count {
            #expect(
                DedicatedThread.start {
                    begun.signal()
                    go.wait()
                    ended.signal()
                })
        }
        // All run before any may go on.
        for _ in 0..<count { begun.wait() }
        for _ in 0..<count { go.signal() }
        for _ in 0..<count { ended.wait() }
    }
}

@Suite struct MonotonicClockTests {
    @Test func itNeverGoesBack() {
        let instants = (0..<10_000).map { _ in MonotonicClock.now }
        #expect(instants == instants.sorted())
        #expect(instants.first != instants.last, "it stands still")
    }

    @Test func itCountsNanoseconds() {
        let clock = ContinuousClock()
        var inner: UInt64 = 0
        let outer = clock.measure {
            let start = MonotonicClock.now
            while MonotonicClock.now - start < 2_000_000 {}
            inner = MonotonicClock.now - start
        }
        #expect(inner >= 2_000_000)
        #expect(outer >= .nanoseconds(inner), "it goes faster than time")
    }
}
