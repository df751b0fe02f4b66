/// Finds the beginnings and ends of messages in a gRPC body as its bytes arrive (gRPC over HTTP2, "Length-Prefixed-Message").
///
/// Holds no bytes: only counts the flag, the four bytes of length and the message itself.
public struct GRPCFrames: Sendable, Hashable {
    /// Consecutive bytes that belong to one message.
    public struct Piece: Sendable, Hashable {
        /// At least 1.
        public var count: Int
        /// Whether they include the message's first byte.
        public var isFirst: Bool
        /// Whether they include the message's last byte.
        public var isLast: Bool
    }

    /// The number of complete messages.
    public private(set) var complete = 0
    /// Bytes of the prefix received so far.
    private var prefix = 0
    /// The value of the prefix so far.
    private var length = 0
    /// Bytes of the message received so far.
    private var size = 0

    public init() {}

    /// Whether a message has begun and not ended.
    public var isWithin: Bool { self.prefix > 0 }

    /// Takes bytes from the front, up to the end of one message. Call again with the rest.
    public mutating func take(_ bytes: UnsafeRawBufferPointer) -> Piece {
        var piece = Piece(count: 0, isFirst: !self.isWithin, isLast: false)
        while self.prefix < GRPCMessage.prefixSize, piece.count < bytes.count {
            // At most four bytes, so it fits.
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
