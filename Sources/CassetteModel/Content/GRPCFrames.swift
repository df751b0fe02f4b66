/// Finds where the messages of a gRPC body begin and end as its bytes come (gRPC over HTTP2, "Length-Prefixed-Message").
///
/// Holds no bytes: a flag, four bytes of length, and the message itself are counted as they pass.
public struct GRPCFrames: Sendable, Hashable {
    /// Bytes that follow one another and belong to one message.
    public struct Piece: Sendable, Hashable {
        /// At least 1.
        public var count: Int
        /// The message's first byte is among them.
        public var isFirst: Bool
        /// The message's last byte is among them.
        public var isLast: Bool
    }

    /// Messages that came to their end.
    public private(set) var complete = 0
    /// Bytes of the prefix that have come.
    private var prefix = 0
    /// What the prefix says so far.
    private var length = 0
    /// Bytes of the message that have come.
    private var size = 0

    public init() {}

    /// Whether a message has begun and not ended.
    public var isWithin: Bool { self.prefix > 0 }

    /// Takes the first of these bytes, those of one message at most. Called again with the others.
    public mutating func take(_ bytes: UnsafeRawBufferPointer) -> Piece {
        var piece = Piece(count: 0, isFirst: !self.isWithin, isLast: false)
        while self.prefix < GRPCMessage.prefixSize, piece.count < bytes.count {
            // Four bytes at most: it fits.
            if self.prefix > 0 { self.length = self.length << 8 | Int(bytes[piece.count]) }
            self.prefix += 1
            piece.count += 1
        }
        guard self.prefix == GRPCMessage.prefixSize else { return piece }
        let rest = min(self.length - self.size, bytes.count - piece.count)
        self.size += rest
        piece.count += rest
        guard self.size == self.length else { return piece }
        piece.isLast = true
        self.complete += 1
        (self.prefix, self.length, self.size) = (0, 0, 0)
        return piece
    }

    /// Takes all of these bytes.
    ///
    /// - Parameter piece: called with each piece of a message.
    public mutating func takeAll(_ bytes: UnsafeRawBufferPointer, _ piece: (Piece) -> Void = { _ in }) {
        var offset = 0
        while offset < bytes.count {
            let next = self.take(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
            offset += next.count
            piece(next)
        }
    }
}
