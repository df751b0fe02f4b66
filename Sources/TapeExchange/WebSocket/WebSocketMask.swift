/// The key with which a client masks its payload (RFC 6455, 5.3). Masking and unmasking are the same operation.
public struct WebSocketMask: Sendable, Hashable {
    /// The lowest byte applies to the first byte of payload.
    private let key: UInt32

    public init(_ key: UInt32) { self.key = key }

    /// The four bytes in the order in which they are sent.
    public var bytes: [UInt8] { [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: self.key >> $0) } }

    /// The mask for payload that begins `count` bytes later.
    public func turned(by count: Int) -> WebSocketMask {
        let bits = UInt32(truncatingIfNeeded: count & 3) * 8
        return WebSocketMask(bits == 0 ? self.key : self.key >> bits | self.key << (32 - bits))
    }

    /// Writes the masked bytes to `output`, which must have room for them and may be the same memory as the input.
    public func apply(to input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) {
        precondition(output.count >= input.count)
        // SAFETY: every offset below is less than input.count, and both buffers have at least that size.
        guard let from = input.baseAddress, let to = output.baseAddress else { return }
        let word = UInt64(self.key) | UInt64(self.key) << 32
        var offset = 0
        while input.count &- offset >= 32 {
            let wide = SIMD4<UInt64>(repeating: word.littleEndian)
            let value = from.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt64>.self) ^ wide
            to.storeBytes(of: value, toByteOffset: offset, as: SIMD4<UInt64>.self)
            offset &+= 32
        }
        while offset < input.count {
            let byte = from.load(fromByteOffset: offset, as: UInt8.self)
            to.storeBytes(
                of: byte ^ UInt8(truncatingIfNeeded: self.key >> UInt32((offset & 3) * 8)), toByteOffset: offset, as: UInt8.self)
            offset &+= 1
        }
    }

    /// Appends the masked bytes.
    public func append(_ input: UnsafeRawBufferPointer, to output: inout [UInt8]) {
        output.append(
            contentsOf: [UInt8](unsafeUninitializedCapacity: input.count) { buffer, count in
                // SAFETY: `apply` writes exactly as many bytes as the input has.
                self.apply(to: input, into: UnsafeMutableRawBufferPointer(buffer))
                count = input.count
            })
    }
}
