/// The key that a client's payload is combined with (RFC 6455, 5.3). Masking and unmasking are the same.
public struct WebSocketMask: Sendable, Hashable {
    /// The byte for the first byte of payload is the lowest.
    private let key: UInt32

    public init(_ key: UInt32) { self.key = key }

    /// The four bytes as they are sent.
    public var bytes: [UInt8] { [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: self.key >> $0) } }

    /// The mask for payload that begins `count` bytes later.
    public func turned(by count: Int) -> WebSocketMask {
        let bits = UInt32(truncatingIfNeeded: count & 3) * 8
        return WebSocketMask(bits == 0 ? self.key : self.key >> bits | self.key << (32 - bits))
    }

    /// Writes the combined bytes to `output`, which has room for them and may be where they are.
    public func apply(to input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) {
        precondition(output.count >= input.count)
        // SAFETY: every offset below is under input.count, which both buffers have.
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

    /// Appends the combined bytes.
    public func append(_ input: UnsafeRawBufferPointer, to output: inout [UInt8]) {
        output.append(
            contentsOf: [UInt8](unsafeUninitializedCapacity: input.count) { buffer, count in
                // SAFETY: `apply` writes as many bytes as the input has.
                self.apply(to: input, into: UnsafeMutableRawBufferPointer(buffer))
                count = input.count
            })
    }
}
