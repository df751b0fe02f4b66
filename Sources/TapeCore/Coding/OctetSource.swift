/// Octets that can be read again and again, a bounded piece at a time: memory, a file, a slice of the spool.
public struct OctetSource {
    /// Octets read at once at most.
    public static let pieceSize = 64 << 10

    public let size: Int
    /// The octets themselves, where the source is memory.
    let memory: [UInt8]?
    private let readAt: (_ offset: Int, _ buffer: UnsafeMutableRawBufferPointer) throws -> Int

    /// `readAt` fills the buffer from an offset and returns how many octets it put there: at least one before the end, as `pread` does.
    public init(size: Int, readAt: @escaping (_ offset: Int, _ buffer: UnsafeMutableRawBufferPointer) throws -> Int) {
        self.size = max(size, 0)
        self.memory = nil
        self.readAt = readAt
    }

    public init(_ octets: [UInt8]) {
        self.size = octets.count
        self.memory = octets
        self.readAt = { offset, buffer in
            let end = min(octets.count, offset + buffer.count)
            guard offset < end else { return 0 }
            octets.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<end])) }
            return end - offset
        }
    }

    /// All octets; for sizes that the caller has checked.
    public func load() throws -> [UInt8] {
        if let memory = self.memory { return memory }
        var octets: [UInt8] = []
        octets.reserveCapacity(self.size)
        try self.forEachPiece { octets.append(contentsOf: $0) }
        return octets
    }

    /// The octets in order, in pieces that are valid during the call only.
    public func forEachPiece(from start: Int = 0, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        try self.forEachPiece(
            from: start,
            while: { piece in
                try body(piece)
                return true
            })
    }

    /// As above until `body` answers no. Memory comes as one piece.
    public func forEachPiece(from start: Int = 0, while body: (UnsafeRawBufferPointer) throws -> Bool) throws {
        guard start < self.size else { return }
        if let memory = self.memory {
            _ = try memory.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[start...])) }
            return
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: min(Self.pieceSize, self.size), alignment: 16)
        defer { buffer.deallocate() }
        var offset = start
        while offset < self.size {
            let piece = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(self.size - offset))
            try self.read(at: offset, into: piece)
            guard try body(UnsafeRawBufferPointer(piece)) else { return }
            offset += piece.count
        }
    }

    /// Fills the whole buffer, or throws.
    public func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws {
        var filled = 0
        while filled < buffer.count {
            let count = try self.readAt(offset + filled, UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
            guard count > 0, count <= buffer.count - filled else {
                throw CassetteError(
                    .unreadable, "a body ends after \(offset + filled) of its \(self.size) octets: its file was cut since; record it again")
            }
            filled += count
        }
    }
}
