internal import NIOCore

extension ByteBuffer {
    /// Copies the bytes where they are less than a quarter of the memory that they keep.
    mutating func compact() {
        guard self.storageCapacity > 4 * self.readableBytes else { return }
        self = ByteBuffer(bytes: self.readableBytesView)
    }
}
