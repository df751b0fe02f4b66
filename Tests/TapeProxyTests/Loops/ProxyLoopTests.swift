import NIOCore
import NIOEmbedded
@testable import TapeProxy
import Testing

@Suite struct ProxyLoopTests {
    private final class Late: TimedConnection {
        let deadline: NIODeadline
        var passed = 0

        init(_ deadline: NIODeadline) { self.deadline = deadline }

        func deadlinePassed() { self.passed += 1 }
        func stop() {}
        func abort() {}
    }

    @Test func aSweepEverySecondEndsOverdueConnections() throws {
        let loop = EmbeddedEventLoop()
        let shared = try EmbeddedProxy.context(loop).shared
        let late = Late(.uptimeNanoseconds(0))
        let early = Late(.distantFuture)
        shared.registry.add(late)
        shared.registry.add(early)
        shared.begin()
        shared.begin()
        loop.advanceTime(by: .milliseconds(999))
        #expect(late.passed == 0)
        loop.advanceTime(by: .milliseconds(1))
        #expect(late.passed == 1, "one timer, begun twice")
        shared.end()
        loop.advanceTime(by: .seconds(5))
        #expect(late.passed == 1 && early.passed == 0)
    }

    @Test func sessionsOfALoopShareItsClock() throws {
        let one = try EmbeddedProxy.context(EmbeddedEventLoop())
        let other = ProxyContext(shared: one.shared, common: one.common)
        other.readClock()
        #expect(one.now == other.now)
        #expect(one.pool !== other.pool && one.dialing !== other.dialing)
    }
}
