import Dispatch
import TapeBytes
import Testing
@testable import WiretapeCLI

/// Transcripts of signals and closes: a letter means a call, and a number means the passing of seconds.
@Suite struct ClosingTimeTests {
    /// The times at which the close is hastened, in seconds from the start.
    private func hastened(grace: Int, _ events: String) -> [Int] {
        let start = DispatchTime.now()
        let clock = Guarded(0)
        let scheduled = Guarded<[Int]>([])
        let time = ClosingTime(
            grace: grace,
            schedule: { at, _ in
                scheduled.withLock { $0.append(Int((at.uptimeNanoseconds - start.uptimeNanoseconds + 500_000_000) / 1_000_000_000)) }
            },
            now: { start + .seconds(clock.withLock { $0 }) }, hasten: {})
        for event in events.split(separator: " ") {
            switch event {
            case "signal": time.signalled()
            case "close": time.begin()
            default: clock.withLock { $0 += Int(event) ?? 0 }
            }
        }
        return scheduled.withLock { $0 }
    }

    @Test func aRunThatEndsByItselfHasAllTheTime() {
        #expect(self.hastened(grace: 5, "10 close 100") == [])
    }

    @Test func theGracePeriodCountsFromTheSignal() {
        #expect(self.hastened(grace: 5, "10 signal 2 close") == [15])
        #expect(self.hastened(grace: 5, "10 signal signal 3 signal close") == [15])
        #expect(self.hastened(grace: 0, "10 signal close") == [10])
    }

    @Test func aCommandThatTakesItsTimeToEndLeavesNone() {
        #expect(self.hastened(grace: 5, "signal 9 close") == [9])
    }

    @Test func aSignalThatTheCommandOutlivesIsForgotten() {
        #expect(self.hastened(grace: 5, "signal 3600 close") == [])
    }

    @Test func aSignalDuringTheCloseHastensIt() {
        #expect(self.hastened(grace: 5, "close 2 signal") == [7])
    }
}
