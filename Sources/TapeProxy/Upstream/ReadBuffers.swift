internal import NIOCore

/// Buffers for reads from origins. They begin small, stay small for the first reads, and then double as long as reads fill them. An idle
/// connection keeps only its first buffer.
///
/// NIO's own allocator grows with each read, so that the first turn of an event loop reads 60 KB, and it keeps each connection's largest
/// buffer until the connection closes.
struct ReadBuffers: RecvByteBufferAllocator {
    /// Size of the first reads, in bytes.
    static let first = 4096
    /// Full reads of that size before the buffers grow. An event loop makes four reads in a turn, and a TLS record completes with the
    /// fifth. If the client takes nothing, its origin is therefore paused after the second turn.
    static let firstCount = 8

    private var sizes: AdaptiveRecvByteBufferAllocator
    private var fullReads = 0

    /// - Parameter size: size of the largest read, in bytes.
    init(upTo size: Int) { self.sizes = AdaptiveRecvByteBufferAllocator(minimum: 2048, initial: Self.first, maximum: size) }

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
        self.fullReads < Self.firstCount ? allocator.buffer(capacity: Self.first) : self.sizes.buffer(allocator: allocator)
    }

    /// - Returns: true, so that NIO asks for a new buffer for each read. It reuses a buffer only if the next is known to be no larger.
    mutating func record(actualReadBytes: Int) -> Bool {
        guard self.fullReads >= Self.firstCount else {
            if actualReadBytes >= Self.first { self.fullReads += 1 }
            return true
        }
        _ = self.sizes.record(actualReadBytes: actualReadBytes)
        return true
    }
}
