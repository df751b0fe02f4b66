import Foundation
import TapeBytes
@testable import TapeRecorder
import TapeTestSupport
import Testing

@Suite struct RecorderQueueTests {
    private let exchange = RecorderItem.exchange(TapedExchanges.simple(1), stored: nil)

    private func block(_ size: Int) -> RecorderItem { .block(exchange: 1, side: .response, bytes: [UInt8](repeating: 0, count: size)) }

    @Test func itIsFullAtTheHighMarkAndDrainedAtTheLow() {
        let queue = RecorderQueue { _ in }
        #expect(!queue.put(self.block(RecorderQueue.highWater - 1), now: 0))
        #expect(queue.put(self.block(1), now: 0))
        let batch = queue.take()
        #expect(batch.weight == RecorderQueue.highWater)
        #expect(batch.entries.count == 2)
        // An item that is being written still counts.
        #expect(queue.put(self.block(1), now: 0))
        #expect(!queue.done(RecorderQueue.highWater - RecorderQueue.lowWater, now: 0))
        #expect(queue.done(1, now: 0))
        #expect(!queue.done(0, now: 0), "the drain is told once")
        #expect(!queue.put(self.block(1), now: 0))
    }

    /// Half of the room is reserved for exchanges.
    @Test func conversationsWaitBeforeExchangesDo() {
        let queue = RecorderQueue { _ in }
        #expect(!queue.put(self.block(RecorderQueue.busyWeight - 1), now: 0))
        #expect(!queue.isBusy())
        #expect(!queue.put(self.block(1), now: 0))
        #expect(queue.isBusy() && !queue.isFull)
        _ = queue.take()
        #expect(!queue.done(RecorderQueue.busyWeight - RecorderQueue.calmWeight - 1, now: 0))
        #expect(queue.done(1, now: 0))
        #expect(!queue.done(1, now: 0), "the drain is told once")
        #expect(!queue.isBusy())
    }

    @Test func conversationsWaitForHalfOfTheWork() {
        let queue = RecorderQueue { _ in }
        _ = queue.put(self.block(1000), now: 0)
        _ = queue.take()
        // One nanosecond per byte more than a block of that size may take.
        _ = queue.done(1000, took: RecorderQueue.busyBacklog + 1000, now: 0)
        #expect(!queue.isBusy())
        #expect(!queue.put(self.block(1000), now: 0))
        #expect(queue.isBusy())
        #expect(queue.done(1000, now: 0))
    }

    /// No conversation asks for a drain: none is reported.
    @Test func busyQueueWithoutConversationsDrainsSilently() {
        let queue = RecorderQueue { _ in }
        #expect(!queue.put(self.block(RecorderQueue.busyWeight), now: 0))
        #expect(!queue.done(RecorderQueue.busyWeight, now: 0))
    }

    @Test func itIsFullWhenSomethingHasWaitedTooLong() {
        let queue = RecorderQueue { _ in }
        let patience = RecorderQueue.maxLatency
        #expect(!queue.put(self.block(1), now: 0), "a block's exchange has not ended")
        #expect(!queue.put(self.exchange, now: 100))
        #expect(!queue.put(self.block(1), now: 100 + patience))
        #expect(queue.put(self.block(1), now: 101 + patience), "the first one waits for longer than it may")
        let batch = queue.take()
        #expect(queue.put(self.block(1), now: 102 + patience), "what is being written waits too")
        #expect(queue.done(batch.weight, now: 103 + patience))
        #expect(!queue.put(self.block(1), now: 104 + patience))
    }

    @Test func aDrainWaitsForLateItems() {
        let queue = RecorderQueue { _ in }
        let patience = RecorderQueue.maxLatency
        #expect(!queue.put(self.exchange, now: 0))
        let first = queue.take()
        #expect(queue.put(self.exchange, now: patience + 1))
        #expect(!queue.done(first.weight, now: 3 * patience), "the second one is late by now")
        #expect(queue.done(queue.take().weight, now: 4 * patience))
    }

    @Test func restOfABatchIsAsOldAsItsOldestExchange() {
        let queue = RecorderQueue { _ in }
        let patience = RecorderQueue.maxLatency
        #expect(!queue.put(self.exchange, now: 0))
        #expect(!queue.put(self.block(1), now: 10))
        #expect(!queue.put(self.exchange, now: 20))
        var batch = queue.take()
        #expect(batch.oldestExchange(from: 0) == 0 && batch.oldestExchange(from: 1) == 20 && batch.oldestExchange(from: 3) == nil)
        #expect(queue.put(self.exchange, now: patience + 1))
        #expect(queue.done(1, oldest: 20, now: patience + 2), "the rest is not late yet")
        #expect(queue.put(self.block(1), now: patience + 21), "now it is")
        #expect(!queue.done(1, oldest: 20, now: patience + 22))
        #expect(queue.done(batch.weight - 2, now: patience + 23))
    }

    @Test func itIsFullWithMoreThanItsConsumerDoesInTime() {
        let queue = RecorderQueue { _ in }
        let backlog = RecorderQueue.maxBacklog
        for _ in 0..<2 { #expect(!queue.put(self.block(1000), now: 0)) }
        #expect(!queue.done(1000, took: backlog / 2, now: 1), "what is left takes half of the time")
        #expect(!queue.put(self.block(1000), now: 1))
        #expect(queue.put(self.block(10), now: 1), "at the pace so far, this is more than it does in time")
        #expect(!queue.done(100, took: backlog / 20, now: 2), "a little less is not worth the beginning")
        #expect(queue.done(110, took: backlog * 11 / 200, now: 2), "and now it is a tenth less")
        #expect(!queue.put(self.block(10), now: 2))
        #expect(!queue.done(1000, took: backlog * 4, now: 3), "it was not full")
        #expect(queue.put(self.block(10), now: 3), "the pace is another one by now")
    }

    /// All connections wait in the meantime: for time rather than for the bytes of the low mark.
    @Test func queueFullByTimeDrainsAboveTheLowMark() {
        let queue = RecorderQueue { _ in }
        let (weight, backlog) = (RecorderQueue.lowWater * 3 / 2, RecorderQueue.maxBacklog)
        #expect(!queue.put(self.block(weight), now: 0))
        #expect(!queue.done(weight / 2, took: backlog / 2, now: 1))
        #expect(queue.put(self.block(weight * 3 / 4), now: 1))
        #expect(queue.done(weight * 3 / 8, took: backlog * 3 / 8, now: 2))
        // The same number of bytes, after they filled the queue.
        let other = RecorderQueue { _ in }
        #expect(other.put(self.block(RecorderQueue.highWater), now: 0))
        #expect(!other.done(RecorderQueue.highWater - weight, took: 1, now: 1))
        #expect(other.done(weight - RecorderQueue.lowWater, took: 1, now: 2))
    }

    @Test func aQueueThatWasNeverFullDrainsInSilence() {
        let queue = RecorderQueue { _ in }
        #expect(!queue.put(self.block(10), now: 0))
        #expect(!queue.done(queue.take().weight, now: 0))
    }

    @Test func itemsComeInOrderAndOnce() {
        let queue = RecorderQueue { _ in }
        for size in 1...5 { _ = queue.put(self.block(size), now: 0) }
        #expect(queue.take().entries.map(\.item.weight) == [1, 2, 3, 4, 5])
        #expect(queue.take().entries.isEmpty)
        #expect(!queue.take().isClosed)
        queue.close()
        #expect(queue.take().isClosed)
    }

    /// Each of these would wait forever if nothing ended the rest.
    @Test func aRestEndsWithAnItemAndWithTheClose() throws {
        let queue = RecorderQueue { _ in }
        let rested = Gate("the consumer has rested")
        Thread {
            while !queue.take().isClosed { queue.rest(milliseconds: nil) }
            rested.open()
        }.start()
        for _ in 0..<100 { _ = queue.put(self.block(1), now: 0) }
        queue.close()
        try rested.wait()
    }

    /// A nap with a full queue lasts its whole time: connections wait, so no new item ends it.
    @Test func consumerDoesNotNapWithMillisecondsOfWork() throws {
        let backlog = RecorderQueue.napBacklog
        let queue = RecorderQueue { _ in }
        _ = queue.put(self.block(1000), now: 0)
        _ = queue.done(queue.take().weight, took: backlog, now: 1)
        let rested = Gate("the consumer is awake")
        Thread {
            // An hour each, if they were naps.
            _ = queue.put(self.block(1000), now: 2)
            queue.rest(milliseconds: 3_600_000)
            _ = queue.done(queue.take().weight, took: backlog, now: 3)
            _ = queue.put(self.block(10), now: 3)
            queue.hold(true)
            _ = queue.put(self.block(10), now: 3)
            queue.rest(milliseconds: 3_600_000)
            rested.open()
        }.start()
        try rested.wait()
    }

    @Test func aNapEndsWithWorkForMilliseconds() throws {
        let queue = RecorderQueue { _ in }
        _ = queue.put(self.block(1000), now: 0)
        _ = queue.done(queue.take().weight, took: RecorderQueue.napBacklog, now: 1)
        let rested = Gate("the consumer has napped")
        Thread {
            while queue.take().entries.count < 2 { queue.rest(milliseconds: 3_600_000) }
            rested.open()
        }.start()
        // Two of them together are enough, one is not.
        for _ in 0..<4 { _ = queue.put(self.block(990), now: 2) }
        try rested.wait()
    }

    @Test func aNapEndsWithWeightAndWithUrgency() throws {
        let queue = RecorderQueue { _ in }
        for item in [self.block(1 << 20), .exchange(TapedExchanges.simple(1), stored: { _ in })] {
            let rested = Gate("the consumer has napped")
            Thread {
                // An hour, unless it is woken.
                while queue.take().entries.isEmpty { queue.rest(milliseconds: 3_600_000) }
                rested.open()
            }.start()
            _ = queue.put(item, now: 0)
            try rested.wait()
        }
    }

    @Test func itemsAfterTheEndAreReturned() {
        let refused = Guarded<[Int]>([])
        let queue = RecorderQueue { item in refused.withLock { $0.append(item.weight) } }
        #expect(queue.put(self.block(RecorderQueue.highWater), now: 0))
        queue.close()
        #expect(queue.put(self.block(1), now: 0), "there is still somebody to take it")
        let last = queue.take()
        #expect(last.entries.count == 2)
        #expect(queue.done(last.weight, now: 0))
        #expect(queue.take().entries.isEmpty)
        #expect(!queue.put(self.block(3), now: 0))
        #expect(refused.withLock { $0 } == [3])
        #expect(queue.take().entries.isEmpty)
        #expect(!queue.isFull, "nobody has to wait for room that never comes")
    }
}

@Suite struct RecorderItemTests {
    @Test func itemWithAWaiterIsUrgent() {
        #expect(!RecorderItem.exchange(TapedExchanges.simple(1), stored: nil).isUrgent)
        #expect(RecorderItem.exchange(TapedExchanges.simple(1), stored: { _ in }).isUrgent)
        #expect(!RecorderItem.block(exchange: 1, side: .request, bytes: [1]).isUrgent)
    }

    @Test func itWeighsItsBytes() {
        #expect(RecorderItem.block(exchange: 1, side: .request, bytes: [1, 2, 3]).weight == 3)
        #expect(RecorderItem.exchange(TapedExchanges.simple(1, body: "hello"), stored: nil).weight == 517)
    }
}
