internal import CZlib

/// The CRC-32 of gzip (RFC 1952).
package enum CRC32 {
    /// The checksum of some bytes, or, after the checksum of what stands before them, of both together.
    package static func value(of bytes: UnsafeRawBufferPointer, after earlier: UInt32 = 0) -> UInt32 {
        guard let base = bytes.baseAddress else { return earlier }
        let pointer = base.assumingMemoryBound(to: Bytef.self)
        return UInt32(truncatingIfNeeded: crc32_z(uLong(earlier), pointer, bytes.count))
    }
}
