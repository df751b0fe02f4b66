public import TapeBytes

/// How a body's octets came in: the chunks of a chunked message, or the reads of any other.
public struct Arrival: Sendable, Hashable {
    /// One chunk or read.
    public struct Piece: Sendable, Hashable {
        /// Milliseconds since the message's head.
        public var at: Double
        public var size: Int
        /// The chunk-size line as received, where it is not the size in lower-case hex (an extension, leading zeros).
        public var line: String?

        public init(at: Double, size: Int, line: String? = nil) {
            self.at = at
            self.size = size
            self.line = line
        }
    }

    /// More pieces than this are not kept (a list may not outgrow its body): see `isThinned`.
    public static let pieceLimit = 4096

    /// Whether the pieces are the chunks of `Transfer-Encoding: chunked` (RFC 9112, 7.1).
    public var isChunked: Bool
    public var pieces: [Piece]
    /// The last-chunk line as received, where it is not `0`.
    public var lastLine: String?
    /// True when pieces beyond the limit were merged into the last one: the octets are exact, the later edges are lost.
    public var isThinned: Bool
    public var unknown: [UnknownMember]

    public init(
        isChunked: Bool, pieces: [Piece] = [], lastLine: String? = nil, isThinned: Bool = false, unknown: [UnknownMember] = []
    ) {
        self.isChunked = isChunked
        self.pieces = pieces
        self.lastLine = lastLine
        self.isThinned = isThinned
        self.unknown = unknown
    }
}
