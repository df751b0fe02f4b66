import NIOCore
@testable import TapeProxy
import Testing

@Suite struct ConnectionRegistryTests {
    private final class Member: TimedConnection {
        let deadline: NIODeadline
        var ends = 0
        var whenEnded: () -> Void = {}

        init(_ nanoseconds: UInt64) { self.deadline = .uptimeNanoseconds(nanoseconds) }

        func deadlinePassed() {
            self.ends += 1
            self.whenEnded()
        }

        func stop() {}
        func abort() {}
    }

    @Test func aSweepEndsSessionsWhoseTimeIsUp() {
        let registry = ConnectionRegistry()
        let early = Member(10)
        let late = Member(11)
        registry.add(early)
        registry.add(late)
        registry.sweep(now: .uptimeNanoseconds(10))
        #expect(early.ends == 1)
        #expect(late.ends == 0)
    }

    @Test func membersMayLeaveDuringTheSweep() {
        let registry = ConnectionRegistry()
        let members = (0..<10).map { _ in Member(1) }
        for member in members {
            member.whenEnded = { registry.remove(member) }
            registry.add(member)
        }
        registry.sweep(now: .uptimeNanoseconds(2))
        #expect(registry.count == 0)
        #expect(members.allSatisfy { $0.ends == 1 })
        for member in members { member.whenEnded = {} }
    }
}
