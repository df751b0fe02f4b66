import TapeBytes
import NIOPosix
@testable import TapeProxy
import Testing

@Suite struct LoopGateTests {
    @Test func workGoesThroughUntilTheDoorIsShut() throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let done = Guarded(0)
        let loopGate = LoopGate(group.next())
        loopGate.execute { done.withLock { $0 += 1 } }
        loopGate.shut()
        loopGate.execute { done.withLock { $0 += 1 } }
        try group.syncShutdownGracefully()
        loopGate.execute { done.withLock { $0 += 1 } }
        #expect(done.withLock { $0 } == 1)
    }
}
