import CassetteModel
import ClientTestSupport
import Foundation
import TapeBytes
import TapeTestSupport
import Testing
@testable import Wiretape

@Suite struct DeferredTaskTests {
    @Test func theExchangeBeginsAfterTheWork() async {
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

    @Test func cancellationBeforeTheStartIsReportedAtOnce() async {
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

@Suite struct ExplainedTaskTests {
    private final class Plain: TransportTask {
        let orders = Guarded<[String]>([])
        func cancel() { self.orders.withLock { $0.append("cancel") } }
        func resume() {}
    }

    private final class Explained: ExplainedTask {
        let orders = Guarded<[String]>([])
        func cancel() { self.orders.withLock { $0.append("cancel") } }
        func explain(_ failure: TransportFailure) { self.orders.withLock { $0.append(failure.message) } }
        func resume() {}
    }

    @Test func reasonIsReportedOnlyOnRequest() {
        let (plain, explained) = (Plain(), Explained())
        for task in [plain, explained] as [any TransportTask] { task.giveUp(dueTo: TransportFailure(.network(.timeout), "too slow")) }
        #expect(plain.orders.withLock { $0 } == ["cancel"])
        #expect(explained.orders.withLock { $0 } == ["too slow", "cancel"])
    }
}

@Suite struct FinishedTaskTests {
    @Test func nothingIsLeftToDo() {
        let log = EventLog()
        let task = StubTransport([.text("x")]).start(.make("GET", "http://a.test/")) { log.receive($0) }
        #expect(task is FinishedTask)
        task.cancel()
        task.resume()
        #expect(log.lines.last == "end")
        #expect(log.events.count == 3)
    }
}

@Suite struct OfflineTransportTests {
    @Test func theRefusalNamesTheRequestAndTheWaysOut() async throws {
        let session = HTTPSession(transport: OfflineTransport())
        let error = try #require(await session.request("http://a.test/pets?n=1").serializingData().response.error)
        #expect(
            "\(error)".contains(
                "GET \"http://a.test/pets?n=…\" has no cassette, and WIRETAPE_OFFLINE forbids the network: send it from the test's task, use HTTPSession(cassette:), or unset the variable."
            ))
    }
}

@Suite struct TransportEventTests {
    @Test func nothingFollowsAnEndOrAFailure() {
        #expect(TransportEvent.end.isLast)
        #expect(TransportEvent.failed(.cancelled()).isLast)
        #expect(!TransportEvent.chunk(Data()).isLast)
        #expect(!TransportEvent.sent(1, of: 1).isLast)
    }
}
