import NIOCore
@testable import TapeProxy
import Testing

@Suite struct ReadBuffersTests {
    /// Two turns of an event loop with four reads each.
    @Test func firstReadsStaySmall() {
        var buffers = ReadBuffers(upTo: 256 << 10)
        let sizes = (0..<ReadBuffers.firstCount).map { _ in self.read(&buffers) }
        #expect(sizes.allSatisfy { $0 == 4096 })
    }

    @Test func laterReadsGrowToTheLargest() {
        var buffers = ReadBuffers(upTo: 256 << 10)
        let sizes = (0..<40).map { _ in self.read(&buffers) }
        #expect(sizes.last == 256 << 10)
    }

    /// The short reads of an idle connection do not change it.
    @Test func shortReadsDoNotCount() {
        var buffers = ReadBuffers(upTo: 256 << 10)
        for _ in 0..<100 { _ = buffers.record(actualReadBytes: 100) }
        #expect(self.read(&buffers) == 4096)
    }

    /// Fills the available buffer, and returns its size.
    private func read(_ buffers: inout ReadBuffers) -> Int {
        let size = buffers.buffer(allocator: ByteBufferAllocator()).capacity
        _ = buffers.record(actualReadBytes: size)
        return size
    }
}
