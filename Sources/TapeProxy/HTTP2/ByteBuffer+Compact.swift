internal import NIOCore

extension ByteBuffer {
    /// Copies the bytes if they are less than a quarter of the memory that they keep alive.
    mutating func compact() {
        guard self.storageCapacity > 4 * self.readableBytes else { return }
        self = ByteBuffer(bytes: self.readableBytesView)
    }
}
