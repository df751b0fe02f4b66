public import CassetteModel

/// Listens to one body as it passes: keeps small bodies, hands large ones on in blocks, and notes when the pieces came.
///
/// Holds less than two blocks of memory, whatever the body's size. Knows no files: the caller stores the blocks.
public struct BodyTap: ~Copyable, Sendable {
    /// Octets held before the first block is handed on; the limit up to which text stands in the cassette itself.
    public static let blockSize = 64 * 1024

    /// Reads closer together than this many milliseconds count as one piece: a burst cut up by socket buffers says nothing.
    static let burst = 2.0

    /// Octets of the body so far.
    public private(set) var size = 0
    /// Whether a block was handed on, so that `pending` holds just the rest.
    public private(set) var isSpilled = false
    /// Octets not handed on.
    public private(set) var pending: [UInt8] = []
    public private(set) var trailers: HeaderFields?
    private var arrival: Arrival
    private var lastRead = 0.0

    public init(isChunked: Bool, expectedSize: Int = 0) {
        self.arrival = Arrival(isChunked: isChunked)
        self.pending.reserveCapacity(min(expectedSize, Self.blockSize))
    }

    /// Takes octets of the body that came `at` milliseconds after the head.
    ///
    /// - Returns: a block to store, where enough has come together.
    public mutating func data(_ bytes: UnsafeRawBufferPointer, at: Double) -> [UInt8]? {
        guard !bytes.isEmpty else { return nil }
        self.size += bytes.count
        self.note(bytes.count, at: at)
        guard self.pending.count + bytes.count > Self.blockSize else {
            self.pending.append(contentsOf: bytes)
            return nil
        }
        // Nothing stays here: a client that stalls holds no more than what has not come together yet.
        self.isSpilled = true
        guard !self.pending.isEmpty else { return Array(bytes) }
        self.pending.append(contentsOf: bytes)
        var block: [UInt8] = []
        swap(&block, &self.pending)
        return block
    }

    /// A chunk begins (RFC 9112, 7.1); `line` is its size line where that is not the size in lower-case hex.
    public mutating func chunk(size: Int, line: String?, at: Double) {
        guard self.arrival.pieces.count < Arrival.pieceLimit else {
            self.arrival.isThinned = true
            return
        }
        self.arrival.pieces.append(Arrival.Piece(at: at, size: 0, line: line ?? String(size, radix: 16)))
    }

    public mutating func lastChunk(line: String?) {
        self.arrival.lastLine = line
    }

    public mutating func trailers(_ fields: HeaderFields) {
        self.trailers = fields
    }

    private mutating func note(_ count: Int, at: Double) {
        if self.arrival.isChunked, !self.arrival.pieces.isEmpty {
            self.arrival.pieces[self.arrival.pieces.count - 1].size += count
            return
        }
        if self.arrival.pieces.isEmpty || at - self.lastRead >= Self.burst {
            if self.arrival.pieces.count < Arrival.pieceLimit {
                self.arrival.pieces.append(Arrival.Piece(at: at, size: count))
            } else {
                self.arrival.isThinned = true
                self.arrival.pieces[self.arrival.pieces.count - 1].size += count
            }
        } else {
            self.arrival.pieces[self.arrival.pieces.count - 1].size += count
        }
        self.lastRead = at
    }

    /// The body as far as it came.
    public consuming func ended(isComplete: Bool) -> TapedBody {
        let arrival = self.finishedArrival()
        return TapedBody(size: self.size, isComplete: isComplete, bytes: self.pending, isSpilled: self.isSpilled, arrival: arrival)
    }

    /// The list of pieces for the cassette: nil for a body that came in one piece without chunks.
    ///
    /// A chunk that came whole loses the size line it can do without; a cut one keeps it, since the line says more than came.
    private mutating func finishedArrival() -> Arrival? {
        guard self.arrival.isChunked else { return self.arrival.pieces.count > 1 ? self.arrival : nil }
        for index in self.arrival.pieces.indices
        where self.arrival.pieces[index].line == String(self.arrival.pieces[index].size, radix: 16) {
            self.arrival.pieces[index].line = nil
        }
        return self.arrival
    }
}
