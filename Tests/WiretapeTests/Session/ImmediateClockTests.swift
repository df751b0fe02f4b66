import Testing
import Wiretape

@Suite struct ImmediateClockTests {
    @Test func aSleepIsOverAtOnceAndItsTimeHasPassed() async throws {
        let clock: any Clock<Duration> = .immediate
        try await clock.sleep(for: .seconds(3600))
        let own = ImmediateClock()
        try await own.sleep(for: .seconds(2))
        try await own.sleep(until: .init(offset: .seconds(1)))
        #expect(own.now.offset == .seconds(2))
        #expect(own.now.duration(to: own.now.advanced(by: .milliseconds(5))) == .milliseconds(5))
        #expect(own.minimumResolution == .zero)
    }

    @Test func copiesShowOneTime() async throws {
        let clock = ImmediateClock(now: .init(offset: .seconds(1)))
        let copy = clock
        try await copy.sleep(for: .seconds(1))
        #expect(clock.now.offset == .seconds(2))
    }

    @Test func aCancelledTaskDoesNotSleep() async {
        let clock = ImmediateClock()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(1))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.now.offset == .zero)
    }
}
