public import TapeBytes

/// The form in which a body's octets lie in a cassette.
public enum BodyContent: Sendable, Hashable {
    /// No octets at all.
    case empty
    /// Valid UTF-8 text.
    case text([UInt8])
    /// Text in another charset, with the octets as received; the file shows it decoded.
    case encodedText([UInt8], Charset)
    /// A JSON text (RFC 8259) with the octets as received; the file shows its structure and the white space style restores it.
    case json([UInt8], style: JSONStyle)
    /// `a=1&b=2`
    case form(FormText)
    /// JSON texts, one a line.
    case lines(JSONLines)
    /// Server-sent events.
    case events(EventStream)
    /// Parts with what stands around them.
    case multipart(MultipartBody<PartContent>)
    /// Anything else that is small: base64 in the file.
    case binary([UInt8])
    /// A file beside the cassette.
    case file(Sidecar)
    /// Wire octets not looked at yet: a slice of the raw spool beside the cassette, developed into another form later.
    case raw(RawSlice)
}

extension BodyContent {
    /// The octets, where the cassette itself holds all of them in one piece.
    public var inlineOctets: [UInt8]? {
        switch self {
        case .empty: []
        case .text(let octets), .encodedText(let octets, _), .json(let octets, _), .binary(let octets): octets
        case .form(let form): form.octets
        case .lines(let lines): lines.octets
        case .events(let events): events.octets
        case .multipart, .file, .raw: nil
        }
    }

    /// The files beside the cassette that hold it or parts of it.
    public var sidecars: [Sidecar] {
        switch self {
        case .file(let sidecar): [sidecar]
        case .multipart(let body): body.sidecars
        case .empty, .text, .encodedText, .json, .form, .lines, .events, .binary, .raw: []
        }
    }
}

/// Octets in the raw spool of a cassette, `NAME.bodies/undeveloped.raw`.
public struct RawSlice: Sendable, Hashable {
    public var path: String
    public var offset: Int
    public var size: Int
    /// CRC-32 (that of gzip, RFC 1952) of the slice: proves the slice was written whole.
    public var crc32: UInt32

    public init(path: String, offset: Int, size: Int, crc32: UInt32) {
        self.path = path
        self.offset = offset
        self.size = size
        self.crc32 = crc32
    }
}
