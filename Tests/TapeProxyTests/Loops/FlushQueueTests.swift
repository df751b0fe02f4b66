import NIOEmbedded
@testable import TapeProxy
import Testing

@Suite struct FlushQueueTests {
    private final class Target: FlushTarget {
        var flushes = 0
        var whenFlushed: () -> Void = {}

        func flushNow() {
            self.flushes += 1
            self.whenFlushed()
        }
    }

    @Test func allThatWasAddedIsFlushedAtTheEndOfTheTurn() {
        let loop = EmbeddedEventLoop()
        let queue = FlushQueue(loop: loop)
        let (first, second) = (Target(), Target())
        queue.add(first)
        queue.add(second)
        #expect(first.flushes == 0)
        loop.run()
        #expect(first.flushes == 1 && second.flushes == 1)
        loop.run()
        #expect(first.flushes == 1)
    }

    @Test func targetAddedWhileFlushingIsFlushed() {
        let loop = EmbeddedEventLoop()
        let queue = FlushQueue(loop: loop)
        let (first, second) = (Target(), Target())
        first.whenFlushed = { queue.add(second) }
        queue.add(first)
        loop.run()
        #expect(second.flushes == 1)
        queue.add(first)
        loop.run()
        #expect(first.flushes == 2 && second.flushes == 2)
    }
}
