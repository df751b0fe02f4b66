internal import NIOCore

/// The memory for reads from origins: it begins small and doubles while reads fill it. An idle connection keeps only its first buffer.
///
/// NIO's own allocator keeps the largest buffer with each connection until it closes.
struct ReadBuffers: RecvByteBufferAllocator {
    private var sizes: AdaptiveRecvByteBufferAllocator

    /// - Parameter size: bytes of the largest read.
    init(upTo size: Int) { self.sizes = AdaptiveRecvByteBufferAllocator(minimum: 2048, initial: 4096, maximum: size) }

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer { self.sizes.buffer(allocator: allocator) }

    /// - Returns: true, so that NIO asks for a buffer for each read. It keeps a buffer only if the next is known to be no larger.
    mutating func record(actualReadBytes: Int) -> Bool {
        _ = self.sizes.record(actualReadBytes: actualReadBytes)
        return true
    }
}
