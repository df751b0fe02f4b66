import CassetteModel
import NIOCore
import NIOPosix
@testable import TapeProxy
import TapeTestSupport
import Testing

@Suite struct WorkPoolTests {
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)

    @Test func moreWorkThanMayWaitIsRefusedInWords() throws {
        let disk = WorkPool(threads: 1, workLimit: 2)
        let (loop, other) = (self.group.next(), self.group.next())
        let (begun, gate) = (Gate("work has begun"), Gate("the disk is there"))
        let slow = disk.run(on: loop) {
            begun.open()
            try gate.wait()
            return 1
        }
        try begun.wait()
        let waiting = disk.run(on: other) { 2 }
        let error = #expect(throws: CassetteError.self) { try disk.run(on: loop) { 3 }.wait() }
        #expect(error?.message == "2 disk operations are queued already; try again when the disk has caught up")
        gate.open()
        #expect(try slow.wait() == 1)
        #expect(try waiting.wait() == 2)
        #expect(try disk.run(on: loop) { 4 }.wait() == 4)
        disk.stop()
        try self.group.syncShutdownGracefully()
    }

    @Test func aStopEndsBegunWorkAndRefusesTheRest() throws {
        let disk = WorkPool(threads: 1)
        let loop = self.group.next()
        let (begun, gate) = (Gate("work has begun"), Gate("the disk is there"))
        let slow = disk.run(on: loop) {
            begun.open()
            try gate.wait()
            return 1
        }
        try begun.wait()
        let waiting = disk.run(on: loop) { 2 }
        // The queue is dropped first, and then the work can continue.
        waiting.whenFailure { _ in gate.open() }
        disk.stop()
        #expect(try slow.wait() == 1)
        #expect(throws: (any Error).self) { try waiting.wait() }
        #expect(throws: (any Error).self) { try disk.run(on: loop) { 3 }.wait() }
        try self.group.syncShutdownGracefully()
    }
}
