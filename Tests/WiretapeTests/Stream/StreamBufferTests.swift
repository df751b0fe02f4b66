import Foundation
import Testing

@testable import Wiretape

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
