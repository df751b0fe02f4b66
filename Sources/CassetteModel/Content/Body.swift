public import TapeBytes

/// A message body: the octets after transfer decoding, in the most readable form that gives them back exactly.
///
/// Does no I/O: a body that lies in a sidecar is named here and read elsewhere.
public struct Body: Sendable, Hashable {
    /// Number of wire octets, after transfer decoding and before content decoding.
    public var size: Int
    /// False when the message was cut before the body's framed end.
    public var isComplete: Bool
    /// Content codings that `content` was freed of, in the order they were applied; empty when `content` is the wire octets.
    public var codings: [ContentCoding]
    public var content: BodyContent
    /// The wire octets, kept where `codings` cannot restore them.
    public var original: Sidecar?
    /// How the octets arrived; nil when they came in one piece.
    public var arrival: Arrival?
    /// SHA-256 of the wire octets in lower-case hex; kept for coded bodies, whose restoration it proves.
    public var sha256: String?
    /// A sentence for people on a body that is not what its fields claim (a corrupt gzip stream, say).
    public var note: String?
    public var unknown: [UnknownMember]

    public init(
        size: Int, isComplete: Bool = true, codings: [ContentCoding] = [], content: BodyContent, original: Sidecar? = nil,
        arrival: Arrival? = nil, sha256: String? = nil, note: String? = nil, unknown: [UnknownMember] = []
    ) {
        self.size = size
        self.isComplete = isComplete
        self.codings = codings
        self.content = content
        self.original = original
        self.arrival = arrival
        self.sha256 = sha256
        self.note = note
        self.unknown = unknown
    }

    /// Octets that the content is, as it is now: not `size` where it was edited, or codings were taken off.
    public var octetCount: Int {
        switch self.content {
        case .empty, .text, .encodedText, .json, .form, .lines, .events, .binary: self.content.inlineOctets?.count ?? 0
        case .multipart(let body): body.size
        case .file(let sidecar): sidecar.size
        case .raw(let slice): slice.size
        }
    }
}
