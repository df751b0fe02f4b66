/// How a recorded answer is sent: as it was recorded, or computed from the recording for a request that differs from the recorded one.
public struct AnswerForm: Sendable, Hashable {
    /// Whether the body's content codings are removed, because the client does not accept them (RFC 9110, 12.5.3).
    public var isDecoded: Bool
    /// The ranges to send instead of the recorded body; nil for the recorded body.
    public var ranges: ComputedRanges?
    /// The request's Range field if it is applied to the decoded body, whose length is only known after decoding; nil for the whole body.
    public var decodedRange: String?
    /// The client's own ids, which the answer may repeat; nil if the request has none.
    public var echo: AnswerEcho?

    public init(isDecoded: Bool = false, ranges: ComputedRanges? = nil, decodedRange: String? = nil, echo: AnswerEcho? = nil) {
        self.isDecoded = isDecoded
        self.ranges = ranges
        self.decodedRange = decodedRange
        self.echo = echo
    }

    /// As recorded, byte for byte.
    public static let recorded = AnswerForm()

    /// Whether the answer is a representation other than the recorded one.
    public var isComputed: Bool { self.isDecoded || self.ranges != nil }
}

/// A 206 (Partial Content) that was not recorded, assembled from recorded representations (RFC 9110, 14 and 15.3.7).
public struct ComputedRanges: Sendable, Hashable {
    /// A recorded body, and the range of the representation that it contains.
    public struct Source: Sendable, Hashable {
        /// The exchange, in order of request start from 0.
        public var index: Int
        /// The offsets within the representation, in bytes: those of its Content-Range, or all of them for a 200.
        public var bytes: Range<Int>

        public init(index: Int, bytes: Range<Int>) {
            self.index = index
            self.bytes = bytes
        }
    }

    /// The length of the whole representation in bytes.
    public var length: Int
    /// The satisfiable ranges as offsets within the representation, in the order requested; empty for a 416 (Range Not Satisfiable).
    public var ranges: [Range<Int>]
    /// Recorded bodies that together contain all ranges, sorted by their first byte. If there are several, they have the same strong
    /// validator.
    public var sources: [Source]
    /// Whether the only range is sent as the whole representation, with the recorded status.
    public var isRepresentation: Bool

    public init(length: Int, ranges: [Range<Int>], sources: [Source], isRepresentation: Bool = false) {
        self.length = length
        self.ranges = ranges
        self.sources = sources
        self.isRepresentation = isRepresentation
    }
}
