import CassetteModel
import TapeBytes
import Testing

@testable import Wiretape

@Suite struct ExplainedTaskTests {
    private final class Plain: TransportTask {
        let orders = Guarded<[String]>([])
        func cancel() { self.orders.withLock { $0.append("cancel") } }
        func resume() {}
    }

    private final class Explained: ExplainedTask {
        let orders = Guarded<[String]>([])
        func cancel() { self.orders.withLock { $0.append("cancel") } }
        func cancel(dueTo failure: TransportFailure) { self.orders.withLock { $0.append(failure.message) } }
        func resume() {}
    }

    @Test func onlyWhoWantsToKnowIsToldWhy() {
        let (plain, explained) = (Plain(), Explained())
        for task in [plain, explained] as [any TransportTask] { task.giveUp(dueTo: TransportFailure(.network(.timeout), "too slow")) }
        #expect(plain.orders.withLock { $0 } == ["cancel"])
        #expect(explained.orders.withLock { $0 } == ["too slow"])
    }
}
