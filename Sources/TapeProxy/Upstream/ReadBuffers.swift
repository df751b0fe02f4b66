internal import NIOCore

/// The memory for reads from origins: it begins small, stays so for the first reads, and doubles while reads fill it. An idle connection
/// keeps only its first buffer.
///
/// NIO's own allocator grows with each read, so that the first turn of an event loop reads 60 KB, and it keeps the largest buffer with each
/// connection until it closes.
struct ReadBuffers: RecvByteBufferAllocator {
    /// Bytes of the first reads.
    static let first = 4096
    /// Full reads of that size before they grow. An event loop makes four reads in a turn, and a record of TLS comes with the fifth one: a
    /// client that takes nothing stops its origin after the second turn.
    static let firstCount = 8

    private var sizes: AdaptiveRecvByteBufferAllocator
    private var fullReads = 0

    /// - Parameter size: bytes of the largest read.
    init(upTo size: Int) { self.sizes = AdaptiveRecvByteBufferAllocator(minimum: 2048, initial: Self.first, maximum: size) }

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
        self.fullReads < Self.firstCount ? allocator.buffer(capacity: Self.first) : self.sizes.buffer(allocator: allocator)
    }

    /// - Returns: true, so that NIO asks for a buffer for each read. It keeps a buffer only if the next is known to be no larger.
    mutating func record(actualReadBytes: Int) -> Bool {
        guard self.fullReads >= Self.firstCount else {
            if actualReadBytes >= Self.first { self.fullReads += 1 }
            return true
        }
        _ = self.sizes.record(actualReadBytes: actualReadBytes)
        return true
    }
}
