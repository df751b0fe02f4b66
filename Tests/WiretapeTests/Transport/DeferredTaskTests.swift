import ClientTestSupport
import Foundation
import TapeBytes
import TapeTestSupport
import Testing

@testable import Wiretape

@Suite struct DeferredTaskTests {
    @Test func theExchangeBeginsBehindTheWork() async {
        let log = EventLog()
        let stub = StubTransport([.text("x")])
        let task = DeferredTask(receive: { log.receive($0) }) {
            DeferredTask.Prepared(
                start: { stub.start(.make("GET", "http://a.test/")) { log.receive($0) } },
                discard: { Issue.record("discarded what was wanted") })
        }
        await log.wait()
        task.resume()
        task.cancel()
        #expect(log.lines == ["head 200", "chunk x", "end"])
    }

    @Test func whoCancelsBeforeThatIsToldAtOnce() async {
        let log = EventLog()
        let gate = DispatchSemaphore(value: 0)
        let done = DispatchSemaphore(value: 0)
        let task = DeferredTask(receive: { log.receive($0) }) {
            gate.wait()
            return DeferredTask.Prepared(
                start: {
                    Issue.record("began all the same")
                    return FinishedTask.shared
                }, discard: { done.signal() })
        }
        task.cancel()
        task.cancel()
        #expect(log.lines == ["failed cancelled"])
        gate.signal()
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                done.wait()
                continuation.resume()
            }
        }
        #expect(log.lines == ["failed cancelled"])
    }

    @Test func aResumeWhileTheExchangeBeginsCounts() async {
        let log = EventLog(pauses: [0])
        let stub = StubTransport([.text("x")])
        let deferred = Guarded<DeferredTask?>(nil)
        let hasTask = DispatchSemaphore(value: 0)
        let task = DeferredTask(receive: { log.receive($0) }) {
            hasTask.wait()
            return DeferredTask.Prepared {
                let task = stub.start(.make("GET", "http://a.test/")) { log.receive($0) }
                deferred.withLock { $0 }?.resume()
                return task
            }
        }
        deferred.withLock { $0 = task }
        hasTask.signal()
        await log.wait()
        deferred.withLock { $0 = nil }
        #expect(log.lines == ["head 200", "chunk x", "end"])
    }
}
