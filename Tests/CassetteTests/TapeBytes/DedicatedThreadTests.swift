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
        // All threads run before any of them may continue.
        for _ in 0..<count { begun.wait() }
        for _ in 0..<count { go.signal() }
        for _ in 0..<count { ended.wait() }
    }
}
