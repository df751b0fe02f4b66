import NIOConcurrencyHelpers
import NIOPosix
import Testing
@testable import TapeProxy

@Suite struct LoopDoorTests {
    @Test func workGoesThroughUntilTheDoorIsShut() throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let done = NIOLockedValueBox(0)
        let door = LoopDoor(group.next())
        door.execute { done.withLockedValue { $0 += 1 } }
        door.shut()
        door.execute { done.withLockedValue { $0 += 1 } }
        try group.syncShutdownGracefully()
        door.execute { done.withLockedValue { $0 += 1 } }
        #expect(done.withLockedValue { $0 } == 1)
    }
}
