/// Puts br or zstd on without compressing: any decoder gives the content back, and no library is needed.
///
/// For content that was edited by hand: what its origin's encoder would have made of it, nobody knows.
struct StoredEncoder {
    enum Format: Sendable, Hashable {
        case brotli
        case zstandard
    }

    /// Content octets in a block: the least of what the formats allow with the smallest headers (RFC 7932, 9.2: MLEN in four nibbles).
    private static let blockSize = 1 << 16

    let format: Format
    private var hasBegun = false

    init(_ format: Format) {
        self.format = format
    }

    /// Takes the next piece of content; the last one, which may be empty, ends the stream.
    mutating func push(
        _ content: UnsafeRawBufferPointer, isLast: Bool, deliver: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows {
        var position = 0
        while position < content.count {
            let end = min(content.count, position + Self.blockSize)
            try self.header(end - position).withUnsafeBytes(deliver)
            try deliver(UnsafeRawBufferPointer(rebasing: content[position..<end]))
            position = end
        }
        if isLast { try self.end().withUnsafeBytes(deliver) }
    }

    private mutating func header(_ size: Int) -> [UInt8] {
        defer { self.hasBegun = true }
        switch self.format {
        case .brotli:
            // RFC 7932, 9.1 and 9.2, from the lowest bit: WBITS 0 (a window of 64 KiB), at the beginning only; ISLAST 0, MNIBBLES 00,
            // MLEN - 1 in 16 bits, ISUNCOMPRESSED 1.
            let bits = UInt32(size - 1) << 3 | 1 << 19
            return Self.octets(self.hasBegun ? bits : bits << 1, 3)
        case .zstandard:
            // RFC 8878, 3.1.1.2: Last_Block 0, Block_Type 0 (raw), Block_Size.
            return self.frameHeader() + Self.octets(UInt32(size) << 3, 3)
        }
    }

    private mutating func end() -> [UInt8] {
        switch self.format {
        // ISLAST 1, ISLASTEMPTY 1
        case .brotli: return self.hasBegun ? [0x03] : [0x06]
        // An empty raw block with Last_Block 1
        case .zstandard: return self.frameHeader() + [0x01, 0, 0]
        }
    }

    /// RFC 8878, 3.1.1.1: no content size, no checksum, no dictionary; a window of 128 KiB (2 to the 10 and 7).
    private func frameHeader() -> [UInt8] { self.hasBegun ? [] : [0x28, 0xb5, 0x2f, 0xfd, 0x00, 7 << 3] }

    private static func octets(_ value: UInt32, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
