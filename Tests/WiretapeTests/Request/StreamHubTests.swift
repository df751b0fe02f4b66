import Foundation
import Testing
@testable import Wiretape

@Suite struct StreamHubTests {
    private static func word(_ take: StreamHub.Take) -> String {
        switch take {
        case .chunk(let data): String(decoding: data, as: UTF8.self)
        case .wait: "wait"
        case .end(let error): "end \(error?.message ?? "well")"
        }
    }

    @Test func chunksBeforeTheFirstReaderAreKeptForIt() throws {
        let hub = StreamHub()
        hub.push(Data("a".utf8))
        let first = try hub.join()
        #expect(throws: WiretapeError.self) { try hub.join() }
        #expect(Self.word(hub.take(first)) == "a")
        #expect(Self.word(hub.take(first)) == "wait")
        hub.finish(nil)
        #expect(Self.word(hub.take(first)) == "end well")
    }

    @Test func readersOfTheBeginningGetEverything() throws {
        let hub = StreamHub()
        let readers = [try hub.join(), try hub.join()]
        hub.push(Data("a".utf8))
        hub.finish(WiretapeError(.network, "cut"))
        hub.finish(nil)
        for reader in readers { #expect([Self.word(hub.take(reader)), Self.word(hub.take(reader))] == ["a", "end cut"]) }
        #expect(hub.leave(readers[0]) == 1)
        #expect(hub.leave(readers[1]) == 0)
    }

    @Test func aReaderThatWaitsIsGivenTheNextChunk() async throws {
        let hub = StreamHub()
        let reader = try hub.join()
        let next = try await withCheckedThrowingContinuation { continuation in
            hub.wait(reader, continuation)
            hub.push(Data("a".utf8))
        }
        #expect(next == Data("a".utf8))
        let end = try await withCheckedThrowingContinuation { continuation in
            hub.wait(reader, continuation)
            hub.finish(nil)
        }
        #expect(end == nil)
    }

    @Test func aCancelDropsUnreadBytes() throws {
        for joinsEarly in [true, false] {
            let hub = StreamHub()
            let early = joinsEarly ? try hub.join() : nil
            hub.push(Data("a".utf8))
            hub.finish(WiretapeError(.cancelled, "cancelled"))
            let reader = try early ?? hub.join()
            #expect(Self.word(hub.take(reader)) == "end cancelled")
        }
    }

    @Test func theSlowestReaderDecides() throws {
        let hub = StreamHub()
        let (fast, slow) = (try hub.join(), try hub.join())
        hub.push(Data(count: StreamBuffer.limit))
        _ = hub.take(fast)
        #expect(hub.isFull)
        _ = hub.take(slow)
        #expect(!hub.isFull)
    }

    @Test func aPumpIsCalledOnceUntilItHasPumped() {
        let hub = StreamHub()
        let calls = Collected<Int>()
        hub.join { calls.add($0) }
        hub.push(Data("a".utf8))
        hub.push(Data("b".utf8))
        #expect(calls.all == [0])
        _ = hub.take(0)
        hub.pumped(0, isDone: false)
        #expect(calls.all == [0, 0])
        _ = hub.take(0)
        hub.pumped(0, isDone: false)
        hub.finish(nil)
        #expect(calls.all == [0, 0, 0])
        hub.pumped(0, isDone: true)
        #expect(calls.all == [0, 0, 0])
    }
}

@Suite struct StreamBufferTests {
    @Test func itIsFullFromItsLimitToHalfOfIt() {
        var buffer = StreamBuffer()
        let quarter = Data(count: StreamBuffer.limit / 4)
        for _ in 0..<3 { buffer.push(quarter) }
        #expect(!buffer.isFull)
        buffer.push(quarter)
        #expect(buffer.isFull && buffer.size == StreamBuffer.limit)
        _ = buffer.take()
        _ = buffer.take()
        #expect(buffer.isFull)
        _ = buffer.take()
        #expect(!buffer.isFull)
        #expect(buffer.take() != nil && buffer.isEmpty && buffer.take() == nil && buffer.size == 0)
    }

    @Test func chunksComeInOrder() {
        var buffer = StreamBuffer()
        buffer.push(Data([1]))
        buffer.push(Data([2]))
        #expect(buffer.take() == Data([1]))
        buffer.push(Data([3]))
        #expect([buffer.take(), buffer.take(), buffer.take()] == [Data([2]), Data([3]), nil])
    }
}
