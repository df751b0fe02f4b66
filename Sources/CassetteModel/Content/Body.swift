public import TapeBytes

/// A message body: the bytes after transfer decoding, in the most readable form that restores them exactly.
///
/// Does no I/O: refers to a body in a sidecar without reading it.
public struct Body: Sendable, Hashable {
    /// Wire bytes: after transfer decoding and before content decoding.
    public var size: Int
    /// False if the message was cut before the body's framed end.
    public var isComplete: Bool
    /// Content codings that were removed from `content`, in the order they were applied; empty if `content` is the wire bytes.
    public var codings: [ContentCoding]
    public var content: BodyContent
    /// The wire bytes, if `codings` cannot restore them.
    public var original: Sidecar?
    /// How the bytes arrived; nil if in one piece.
    public var arrival: Arrival?
    /// For a gRPC answer whose messages are not shown one by one: the client's progress at each message. Otherwise messages have their own
    /// marks.
    public var marks: ConversationMarks?
    /// SHA-256 of the wire bytes in lower-case hex; kept for coded bodies, to verify their restoration.
    public var sha256: String?
    /// A sentence for people on a body that contradicts its fields, such as a corrupt gzip stream.
    public var note: String?
    public var unknown: [UnknownMember]

    public init(
        size: Int, isComplete: Bool = true, codings: [ContentCoding] = [], content: BodyContent, original: Sidecar? = nil,
        arrival: Arrival? = nil, marks: ConversationMarks? = nil, sha256: String? = nil, note: String? = nil, unknown: [UnknownMember] = []
    ) {
        self.size = size
        self.isComplete = isComplete
        self.codings = codings
        self.content = content
        self.original = original
        self.arrival = arrival
        self.marks = marks
        self.sha256 = sha256
        self.note = note
        self.unknown = unknown
    }

    /// The client's progress at each gRPC message, wherever it is stored.
    public var conversationMarks: ConversationMarks? {
        if case .grpc(let messages) = self.content { return messages.marks }
        return self.marks
    }

    /// Assigns the marks to the messages, or keeps them for later if there are no messages yet.
    public mutating func take(_ marks: ConversationMarks?) {
        let marks = marks.flatMap { $0.isTrivial ? nil : $0 }
        guard case .grpc(var messages) = self.content else {
            self.marks = self.content == .empty ? nil : marks
            return
        }
        messages.marks = marks
        self.content = .grpc(messages)
        self.marks = nil
    }

    /// The size of the content in its current form. Differs from `size` if the content was edited or codings were removed.
    public var byteCount: Int {
        switch self.content {
        case .empty, .text, .encodedText, .json, .form, .lines, .events, .binary: self.content.inlineBytes?.count ?? 0
        case .multipart(let body): body.size
        case .grpc(let body): body.size
        case .file(let sidecar): sidecar.size
        case .raw(let slice): slice.size
        }
    }
}

extension Body {
    /// Whether the body was recorded without being decoded into its readable form: it is in the raw spool, has codings that can be removed,
    /// or has parts that were not parsed.
    public func isUndecoded(_ headers: HeaderFields) -> Bool {
        if case .raw = self.content { return true }
        return self.hasCodingsLeft(headers) || self.hasPartsLeft(headers)
    }

    /// Whether codings can be removed, as from a body in an unexamined sidecar, or one recorded by a build without these codings.
    public func hasCodingsLeft(_ headers: HeaderFields) -> Bool {
        guard self.codings.isEmpty, self.original == nil, case .coded = ContentEncoding(headers) else { return false }
        if let note = self.note { return ContentEncoding.isNoteOfUnknown(note) }
        if case .file = self.content { return true }
        return false
    }

    /// Whether a multipart or gRPC body is in one piece without a note that explains why. Large bodies are recorded like this, as are those
    /// of earlier versions.
    public func hasPartsLeft(_ headers: HeaderFields) -> Bool {
        guard self.note == nil else { return false }
        switch self.content {
        case .text, .binary, .file:
            guard let index = headers.firstIndex(of: "content-type") else { return false }
            let type = MediaType(headers.valueBytes(at: index))
            guard type.isMultipart || GRPCType(type) != nil else { return false }
            return !self.codings.isEmpty || ContentEncoding(headers) == .none
        case .empty, .encodedText, .json, .form, .lines, .events, .multipart, .grpc, .raw: return false
        }
    }
}

/// The form in which a cassette stores a body's bytes.
public enum BodyContent: Sendable, Hashable {
    case empty
    /// Valid UTF-8 text.
    case text([UInt8])
    /// Text in another charset, with the bytes as received; the file shows it decoded.
    case encodedText([UInt8], Charset)
    /// A JSON text (RFC 8259) with the bytes as received. The file shows its structure, and the white space style restores it.
    case json([UInt8], style: JSONStyle)
    /// `a=1&b=2`
    case form(FormText)
    /// JSON texts, one per line.
    case lines(JSONLines)
    /// Server-sent events.
    case events(EventStream)
    /// Parts, and the bytes around them.
    case multipart(MultipartBody<PartContent>)
    /// gRPC messages.
    case grpc(GRPCMessages)
    /// Any other small body: base64 in the file.
    case binary([UInt8])
    /// A file next to the cassette.
    case file(Sidecar)
    /// Wire bytes that were not examined yet: a slice of the raw spool next to the cassette, to be decoded into another form later.
    case raw(RawSlice)
}

extension BodyContent {
    /// The bytes, if the cassette itself contains all of them in one piece.
    public var inlineBytes: [UInt8]? {
        switch self {
        case .empty: []
        case .text(let bytes), .encodedText(let bytes, _), .json(let bytes, _), .binary(let bytes): bytes
        case .form(let form): form.bytes
        case .lines(let lines): lines.bytes
        case .events(let events): events.bytes
        case .multipart, .grpc, .file, .raw: nil
        }
    }

    /// The files next to the cassette that contain the body or parts of it.
    public var sidecars: [Sidecar] {
        switch self {
        case .file(let sidecar): [sidecar]
        case .multipart(let body): body.sidecars
        case .grpc(let body): body.sidecars
        case .empty, .text, .encodedText, .json, .form, .lines, .events, .binary, .raw: []
        }
    }
}

/// A file next to the cassette that contains a body, named by its content.
public struct Sidecar: Sendable, Hashable {
    /// Relative to the cassette's folder, such as `pets.bodies/5f2c81ab….jpg`; never leads out of that folder.
    public var path: String
    public var size: Int
    /// SHA-256 of the file in lower-case hex.
    public var sha256: String

    public init(path: String, size: Int, sha256: String) {
        self.path = path
        self.size = size
        self.sha256 = sha256
    }
}

/// A range of the raw spool of a cassette, `NAME.bodies/undeveloped.raw`.
public struct RawSlice: Sendable, Hashable {
    public var path: String
    public var offset: Int
    public var size: Int
    /// CRC-32 (as in gzip, RFC 1952) of the slice: proves that it was written completely.
    public var crc32: UInt32

    public init(path: String, offset: Int, size: Int, crc32: UInt32) {
        self.path = path
        self.offset = offset
        self.size = size
        self.crc32 = crc32
    }
}

/// How a body's bytes arrived: in the chunks of a chunked message, or the reads of any other.
public struct Arrival: Sendable, Hashable {
    /// One chunk or read.
    public struct Piece: Sendable, Hashable {
        /// Milliseconds since the message's head.
        public var at: Double
        public var size: Int
        /// The chunk-size line as received; nil if it is the size in lower-case hex, without extension or leading zeros.
        public var line: String?

        public init(at: Double, size: Int, line: String? = nil) {
            self.at = at
            self.size = size
            self.line = line
        }
    }

    /// The most pieces that are kept, so that the list does not outgrow the body: see `isThinned`.
    public static let pieceLimit = 4096

    /// Whether the pieces are the chunks of `Transfer-Encoding: chunked` (RFC 9112, 7.1).
    public var isChunked: Bool
    public var pieces: [Piece]
    /// The last-chunk line as received; nil if it is `0`.
    public var lastLine: String?
    /// Whether pieces beyond the limit were merged into the last one. The bytes are exact, but the later boundaries are lost.
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
