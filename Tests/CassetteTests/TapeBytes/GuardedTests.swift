import Dispatch
@testable import TapeBytes
import Testing

@Suite struct GuardedTests {
    private struct Refused: Error {}

    @Test func noIncrementIsLostBetweenThreads() {
        let counter = Guarded(0)
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<2_000 { counter.withLock { $0 += 1 } }
        }
        #expect(counter.withLock { $0 } == 16_000)
    }

    @Test func anErrorReleasesTheLock() {
        let value = Guarded(1)
        #expect(throws: Refused.self) { try value.withLock { _ in throw Refused() } }
        #expect(value.withLock { $0 } == 1)
    }
}
