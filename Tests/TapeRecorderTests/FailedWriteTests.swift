import CassetteFormat
import CassetteModel
import CassetteStore
import Foundation
import TapeBytes
import TapeExchange
import TapeTestSupport
import Testing
@testable import TapeRecorder

/// Exchanges that cannot be written, turn by turn, with a failing disk and a manual clock.
@Suite struct FailedWriteTests {
    // MARK: The error

    @Test(arguments: [(ENOSPC, true), (EDQUOT, true), (EFBIG, true), (EIO, false), (EROFS, false)])
    func onlyADiskWithoutRoomIsFull(error: Int32, isFull: Bool) throws {
        let bench = try RecorderBench()
        bench.disk.with { $0.writeError = error }
        bench.put(TapedExchanges.simple(1))
        bench.turn()
        #expect(bench.now.isDiskFull == isFull)
        #expect(bench.now.obstacle?.code == (isFull ? .diskFull : .unwritable))
        #expect((bench.now.firstProblem?.cause as? CassetteError)?.code == (isFull ? .noSpace : .unwritable))
        #expect(bench.now.held == 1 && bench.now.lost == 0)
    }

    @Test func anInvalidExchangeIsLostAloneAndStopsNothing() throws {
        let bench = try RecorderBench()
        _ = bench.queue.put(.block(exchange: 1, side: .response, bytes: [UInt8](repeating: 97, count: 100_000)), now: 0)
        bench.put(
            TapedExchanges.exchange(1, fields: ["Content-Type: text/plain"], body: [98], isSpilled: true, size: 100_001), waits: true)
        bench.put(TapedExchanges.simple(2), waits: true)
        bench.disk.with { $0.readError = EIO }
        bench.turn()
        bench.disk.with { $0.readError = 0 }
        #expect(try bench.inFile == [2])
        #expect(try bench.problem(1)?.code == .exchange && bench.problem(2) == nil)
        #expect(bench.now.obstacle == nil && bench.now.lost == 1)
        #expect(bench.now.firstProblem?.message.hasPrefix("exchange 1 is not recorded") == true)
        #expect((bench.now.firstProblem?.cause as? CassetteError)?.code == .unreadable)
        let notices = bench.notices.withLock { $0 }
        #expect(notices.count == 1 && notices[0].hasSuffix("the others are."), "\(notices)")
    }

    @Test func itIsNotSaidThatTrafficGoesOnWhereItDoesNot() throws {
        for refuses in [false, true] {
            let bench = try RecorderBench(refuses: refuses)
            bench.disk.with { $0.writeError = ENOSPC }
            bench.put(TapedExchanges.simple(1))
            bench.turn()
            let notices = bench.notices.withLock { $0 }
            #expect(notices.count == 1 && notices[0].contains("traffic goes on") != refuses, "\(notices)")
        }
    }

    // MARK: Waiting callers

    @Test func waiterIsToldAboutItsOwnExchange() throws {
        let bench = try RecorderBench()
        bench.put(TapedExchanges.simple(1), waits: true)
        bench.turn()
        #expect(try bench.problem(1) == nil)
        bench.disk.with { $0.writeError = ENOSPC }
        bench.put(TapedExchanges.simple(2), waits: true)
        bench.turn()
        #expect(try bench.problem(2)?.code == .diskFull)
    }

    @Test func refusedExchangeIsNeverRecorded() throws {
        let bench = try RecorderBench(refuses: true)
        bench.put(TapedExchanges.simple(1), waits: true)
        bench.turn()
        bench.disk.with { $0.writeError = ENOSPC }
        bench.put(TapedExchanges.simple(2), waits: true)
        bench.put(TapedExchanges.simple(3))
        bench.turn()
        #expect(try bench.problem(2)?.code == .diskFull)
        #expect(bench.now.lost == 1 && bench.now.held == 1)
        bench.disk.with { $0.writeError = 0 }
        bench.turn(after: 5_000)
        bench.put(TapedExchanges.simple(4), waits: true)
        bench.turn()
        #expect(try bench.problem(4) == nil)
        bench.worker.end()
        #expect(try bench.inFile == [1, 3, 4], "nobody was told that 3 is not recorded")
    }

    @Test func exchangePassedOnDespiteAFullDiskIsRecordedLater() throws {
        let bench = try RecorderBench()
        bench.disk.with { $0.writeError = ENOSPC }
        bench.put(TapedExchanges.simple(1), waits: true)
        bench.turn()
        #expect(try bench.problem(1)?.code == .diskFull)
        #expect(bench.now.held == 1 && bench.now.lost == 0)
        bench.disk.with { $0.writeError = 0 }
        bench.turn(after: 5_000)
        #expect(try bench.inFile == [1])
    }

    @Test func refusedExchangeThatCannotBeSyncedIsRolledBack() throws {
        let bench = try RecorderBench(refuses: true)
        bench.put(TapedExchanges.simple(1), waits: true)
        bench.turn()
        bench.disk.with { $0.syncError = EIO }
        bench.put(TapedExchanges.simple(2))
        bench.put(TapedExchanges.simple(3), waits: true)
        bench.turn()
        #expect(try bench.problem(3)?.code == .unwritable)
        #expect(bench.now.recorded == 1 && bench.now.held == 1 && bench.now.lost == 1)
        bench.disk.with { $0.syncError = 0 }
        bench.turn(after: 5_000)
        bench.worker.end()
        #expect(try bench.inFile == [1, 2])
        #expect(bench.now.recorded == 2)
        #expect(try bench.file.close(keepsOld: false, hasUndecoded: false) { _, _ in } == bench.folder.file("tape.json"))
    }

    // MARK: Retries

    @Test func aFullDiskIsTriedLessAndLessOftenAndNothingIsWrittenInBetween() throws {
        let bench = try RecorderBench()
        // The closing brackets, which are written back in their place, find room.
        bench.disk.with { ($0.writeError, $0.shortestFailed) = (ENOSPC, 100) }
        var attempts: [Int] = []
        // Ten seconds of traffic, one exchange every ten milliseconds.
        for id in 1...1000 {
            bench.put(TapedExchanges.simple(id), waits: id % 2 == 0)
            let bytes = bench.disk.with { $0.bytes }
            bench.turn(after: 10)
            if bench.disk.with({ $0.bytes }) > bytes + 100 { attempts.append(id * 10) }
        }
        #expect(attempts == [10, 60, 160, 360, 760, 1560, 3160, 5160, 7160, 9160])
        #expect(bench.now.held == 1000 && bench.now.lost == 0)
        bench.disk.with { $0.writeError = 0 }
        bench.turn(after: 2_000)
        #expect(bench.now.held == 0 && bench.now.recorded == 1000)
        // The next failure starts with the short pause again.
        bench.disk.with { $0.writeError = ENOSPC }
        bench.put(TapedExchanges.simple(1001))
        bench.turn()
        bench.disk.with { $0.writeError = 0 }
        bench.turn(after: 50)
        #expect(bench.now.recorded == 1001)
    }

    /// Bodies that go into a file: with a coding that is decoded later, and in blocks.
    @Test(arguments: [false, true]) func filesOfBodiesAreTriedLessAndLessOftenToo(isInBlocks: Bool) throws {
        let bench = try RecorderBench()
        var generator = SeededGenerator(seed: 1)
        let bytes = (0..<RecorderWorker.decodedAtOnce + 1).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let wire = try #require(bytes.withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: 6), format: .gzip) })
        let coded = ["Content-Type: application/x-any", "Content-Encoding: gzip"]
        func put(_ id: Int) {
            guard isInBlocks else { return bench.put(TapedExchanges.exchange(id, fields: coded, body: wire)) }
            _ = bench.queue.put(.block(exchange: id, side: .response, bytes: bytes), now: 0)
            bench.put(TapedExchanges.exchange(id, fields: [coded[0]], body: [], isSpilled: true, size: bytes.count))
        }
        put(1)
        bench.turn()
        bench.disk.with { $0.writeError = ENOSPC }
        var attempts: [Int] = []
        for id in 2...1001 {
            put(id)
            let writes = bench.disk.with { $0.writes }
            bench.turn(after: 10)
            if bench.disk.with({ $0.writes }) > writes { attempts.append((id - 1) * 10) }
        }
        #expect(attempts == [10, 60, 160, 360, 760, 1560, 3160, 5160, 7160, 9160])
        #expect(bench.now.lost == 1000 && bench.now.isDiskFull)
        #expect(bench.notices.withLock { $0.count } == 1)
        bench.disk.with { $0.writeError = 0 }
        bench.turn(after: 2_000)
        put(1002)
        bench.turn()
        // The next failure starts with the short pause again.
        bench.disk.with { $0.writeError = ENOSPC }
        put(1003)
        bench.turn()
        bench.disk.with { $0.writeError = 0 }
        put(1004)
        bench.turn(after: 50)
        #expect(try bench.inFile == [1, 1002, 1004])
    }

    /// Items that need no file of their own still find room, or memory.
    @Test func filesOfBodiesThatFindNoRoomKeepNothingElseFromTheFile() throws {
        let bench = try RecorderBench()
        bench.disk.with { ($0.writeError, $0.shortestFailed) = (ENOSPC, 10_000) }
        let block = [UInt8](repeating: 97, count: 70_000)
        for id in 1...20 {
            _ = bench.queue.put(.block(exchange: 2 * id, side: .response, bytes: block), now: 0)
            bench.put(TapedExchanges.exchange(2 * id, fields: ["Content-Type: a/b"], body: [], isSpilled: true, size: block.count))
            bench.put(TapedExchanges.simple(2 * id + 1))
            bench.turn(after: 10)
        }
        #expect(try bench.inFile == (1...20).map { 2 * $0 + 1 })
        #expect(bench.now.lost == 20)
        // The attempts after 10, 60 and 160 ms: the writes in between went elsewhere.
        #expect(bench.disk.with { $0.failed } == 3)
    }

    /// Writing continues for a body that has begun: each fails on its own, and once.
    @Test func aBodyThatWasBegunIsNotLostWithAnother() throws {
        let bench = try RecorderBench()
        let block = [UInt8](repeating: 97, count: 70_000)
        func put(_ id: Int) { _ = bench.queue.put(.block(exchange: id, side: .response, bytes: block), now: 0) }
        put(1)
        bench.turn()
        bench.disk.with { $0.writeError = ENOSPC }
        put(2)
        bench.turn()
        bench.disk.with { $0.writeError = 0 }
        put(1)
        put(2)
        bench.turn(after: 10)
        for id in 1...2 {
            bench.put(TapedExchanges.exchange(id, fields: ["Content-Type: a/b"], body: [], isSpilled: true, size: 2 * block.count))
        }
        bench.turn(after: 500)
        #expect(try bench.inFile == [1])
        #expect(bench.now.lost == 1)
        #expect(bench.now.obstacle == nil, "its end is no failure of its own")
    }

    @Test func refusedExchangesAreNotTried() throws {
        let bench = try RecorderBench(refuses: true)
        bench.disk.with { $0.writeError = ENOSPC }
        bench.put(TapedExchanges.simple(1), waits: true)
        bench.turn()
        let writes = bench.disk.with { $0.writes }
        for id in 2...4 {
            bench.put(TapedExchanges.simple(id), waits: true)
            bench.turn(after: 10)
            #expect(try bench.problem(id)?.code == .diskFull)
        }
        #expect(bench.disk.with { $0.writes } == writes)
        #expect(bench.now.isDiskFull)
        // Then exchanges are accepted again, and the next one retries.
        bench.turn(after: 400)
        #expect(bench.now.obstacle == nil)
    }

    @Test func heldExchangesFillTheMemoryAndTheNewestAreLost() throws {
        let bench = try RecorderBench(heldLimit: 20_000)
        bench.disk.with { $0.writeError = ENOSPC }
        let body = String(repeating: "x", count: 1000)
        let count = 40
        for id in 1...count {
            bench.put(TapedExchanges.simple(id, body: body))
            bench.turn()
        }
        #expect(bench.now.lost > 0 && bench.now.held + bench.now.lost == count)
        bench.disk.with { $0.writeError = 0 }
        bench.turn(after: 5_000)
        #expect(try bench.inFile == Array(1...bench.now.recorded))
    }
}
