package import CassetteModel
internal import TapeBytes

/// Applies the content codings of a body again, in their recorded order.
///
/// Uses the recorded parameters, or default ones if there are none.
package final class EncoderChain {
    /// Parameters for edited content whose recorded coding was never reproduced.
    static let fallback = DeflateParameters(level: 6)

    /// A class, since an array cannot contain noncopyable values.
    private final class Layer {
        var deflater: Deflater?
        var members: MembersDeflater?
        var stored: StoredEncoder?

        init(_ coding: ContentCoding) throws {
            switch coding {
            case .gzip(let parameters, let header): self.deflater = try Self.deflater(parameters, .gzip, header)
            case .gzipMembers(let members): self.members = try Self.deflater(members)
            case .deflate(let parameters): self.deflater = try Self.deflater(parameters, .zlib, .plain)
            case .rawDeflate(let parameters): self.deflater = try Self.deflater(parameters, .raw, .plain)
            case .brotli: self.stored = StoredEncoder(.brotli)
            case .zstandard: self.stored = StoredEncoder(.zstandard)
            }
        }

        private static func deflater(
            _ parameters: DeflateParameters?, _ format: DeflateFormat, _ header: GzipHeader
        ) throws -> Deflater {
            guard let deflater = Deflater(parameters ?? EncoderChain.fallback, format: format, header: header) else {
                throw Self.refused("\(format)")
            }
            return deflater
        }

        private static func deflater(_ members: [GzipMember]) throws -> MembersDeflater {
            guard let deflater = MembersDeflater(members) else { throw self.refused("gzip") }
            return deflater
        }

        private static func refused(_ coding: String) -> CassetteError {
            CassetteError(
                .damaged,
                "zlib does not accept the parameters of a body's \(coding) coding: give level 0…9, memory 1…9, window 9…15, strategy 0…4")
        }

        func push(
            _ content: UnsafeRawBufferPointer, isLast: Bool, deliver: (UnsafeRawBufferPointer) throws -> Void
        ) throws {
            try self.stored?.push(content, isLast: isLast, deliver: deliver)
            if try self.members?.push(content, isLast: isLast, deliver: deliver) == false {
                throw CassetteError(.unreadable, "out of memory while encoding a body again: free some memory and try again")
            }
            try self.deflater?.push(content, isLast: isLast) { piece in
                try deliver(piece)
                return true
            }
        }
    }

    private let layers: [Layer]

    package init(_ codings: [ContentCoding]) throws {
        self.layers = try codings.map { try Layer($0) }
    }

    package func push(_ content: UnsafeRawBufferPointer, deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        try self.push(content, to: 0, deliver)
    }

    /// Ends all streams, the innermost first.
    package func finish(deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        for (index, layer) in self.layers.enumerated() {
            try layer.push(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true) { try self.push($0, to: index + 1, deliver) }
        }
    }

    private func push(_ content: UnsafeRawBufferPointer, to index: Int, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard index < self.layers.count else { return try deliver(content) }
        try self.layers[index].push(content, isLast: false) { try self.push($0, to: index + 1, deliver) }
    }
}

/// Encodes br or zstd without compressing. Any decoder restores the content, and no library is needed.
///
/// For content that was edited by hand: how its origin's encoder would have encoded it is unknown.
struct StoredEncoder {
    enum Format: Sendable, Hashable {
        case brotli
        case zstandard
    }

    /// The size of a block: the most that both formats allow with the smallest headers (RFC 7932, 9.2: MLEN in four nibbles).
    private static let blockSize = 1 << 16

    let format: Format
    private var hasBegun = false

    init(_ format: Format) {
        self.format = format
    }

    /// Takes the next piece of content. The last one, which may be empty, ends the stream.
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
            // RFC 7932, 9.1 and 9.2, from the lowest bit: WBITS 0 (a window of 64 KiB), only at the beginning; ISLAST 0, MNIBBLES 00, MLEN
            // - 1 in 16 bits, ISUNCOMPRESSED 1.
            let bits = UInt32(size - 1) << 3 | 1 << 19
            return Self.bytes(self.hasBegun ? bits : bits << 1, 3)
        case .zstandard:
            // RFC 8878, 3.1.1.2: Last_Block 0, Block_Type 0 (raw), Block_Size.
            return self.frameHeader() + Self.bytes(UInt32(size) << 3, 3)
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

    private static func bytes(_ value: UInt32, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
