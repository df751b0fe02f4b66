import TapeBytes
import NIOPosix
@testable import TapeProxy
import Testing

@Suite struct LoopGateTests {
    @Test func workGoesThroughUntilTheDoorIsShut() throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let done = Guarded(0)
        let door = LoopGate(group.next())
        door.execute { done.withLock { $0 += 1 } }
        door.shut()
        door.execute { done.withLock { $0 += 1 } }
        try group.syncShutdownGracefully()
        door.execute { done.withLock { $0 += 1 } }
        #expect(done.withLock { $0 } == 1)
    }
}
