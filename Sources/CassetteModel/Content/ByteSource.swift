internal import TapeBytes

/// Bytes that can be read repeatedly, in pieces of limited size: from memory, a file, or a slice of the spool.
public struct ByteSource {
    /// The most bytes of one read.
    public static let pieceSize = 64 << 10

    public let size: Int
    /// The bytes themselves, if the source is memory.
    package let memory: [UInt8]?
    private let readAt: (_ offset: Int, _ buffer: UnsafeMutableRawBufferPointer) throws -> Int
    private let rest: () -> Void

    /// - Parameters:
    ///   - rest: closes what reading has opened, until the next read. Of many sources (the parts of a form), only one is then open at a
    ///     time.
    ///   - readAt: fills the buffer from an offset and returns the number of bytes, like `pread`: at least one before the end.
    public init(
        size: Int, rest: @escaping () -> Void = {}, readAt: @escaping (_ offset: Int, _ buffer: UnsafeMutableRawBufferPointer) throws -> Int
    ) {
        self.size = max(size, 0)
        self.memory = nil
        self.readAt = readAt
        self.rest = rest
    }

    public init(_ bytes: [UInt8]) {
        self.size = bytes.count
        self.memory = bytes
        self.rest = {}
        self.readAt = { offset, buffer in
            let end = min(bytes.count, offset + buffer.count)
            guard offset < end else { return 0 }
            bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<end])) }
            return end - offset
        }
    }

    /// Several sources, one after the other.
    public init(joining sources: [ByteSource]) {
        let sources = sources.filter { $0.size > 0 }
        guard sources.count > 1 else {
            self = sources.first ?? ByteSource([])
            return
        }
        var ends: [Int] = []
        for source in sources { ends.append((ends.last ?? 0) + source.size) }
        var current = 0
        self.init(size: ends.last ?? 0, rest: { sources[current].rest() }) { [ends] offset, buffer in
            // Finds the first source that ends after the offset.
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if ends[middle] > offset { high = middle } else { low = middle + 1 }
            }
            guard low < sources.count else { return 0 }
            if low != current { sources[current].rest() }
            current = low
            let start = ends[low] - sources[low].size
            return try sources[low].readAt(offset - start, UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(ends[low] - offset)))
        }
    }

    /// A slice; `range` must be within the source.
    public subscript(range: Range<Int>) -> ByteSource {
        precondition(range.lowerBound >= 0 && range.upperBound <= self.size)
        if let memory = self.memory { return ByteSource(Array(memory[range])) }
        let readAt = self.readAt
        return ByteSource(size: range.count, rest: self.rest) { offset, buffer in
            try readAt(range.lowerBound + offset, UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(range.count - offset)))
        }
    }

    /// All bytes. The caller must check the size first.
    public func load() throws -> [UInt8] {
        if let memory = self.memory { return memory }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(self.size)
        try self.forEachPiece { bytes.append(contentsOf: $0) }
        return bytes
    }

    /// Passes the bytes in order, in pieces that are valid only during the call.
    public func forEachPiece(from start: Int = 0, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        try self.forEachPiece(
            from: start,
            while: { piece in
                try body(piece)
                return true
            })
    }

    /// Stops when `body` returns false. Bytes in memory are passed as one piece.
    public func forEachPiece(from start: Int = 0, while body: (UnsafeRawBufferPointer) throws -> Bool) throws {
        guard start < self.size else { return }
        if let memory = self.memory {
            _ = try memory.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[start...])) }
            return
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: min(Self.pieceSize, self.size), alignment: 16)
        defer {
            buffer.deallocate()
            self.rest()
        }
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
                    .unreadable, "a body ends after \(offset + filled) of its \(self.size) bytes: its file was cut; record it again")
            }
            filled += count
        }
    }
}
