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

/// A content coding (RFC 9110, 8.4.1) that was taken off a body, with what it takes to put it back on exactly.
public enum ContentCoding: Sendable, Hashable {
    /// gzip (RFC 1952), with the header of the first member. Parameters are nil where no search found them: then `Body.original` holds
    /// the octets.
    case gzip(DeflateParameters?, header: GzipHeader)
    /// gzip of two members or more, each of which can be coded again.
    case gzipMembers([GzipMember])
    /// `deflate` as the zlib format (RFC 1950).
    case deflate(DeflateParameters?)
    /// `deflate` without the zlib wrapper (RFC 1951), which some servers send.
    case rawDeflate(DeflateParameters?)
    /// `br` (RFC 7932). Its octets are always kept: encoders differ by version (docs/decisions/0013-br-and-zstd.md).
    case brotli
    /// `zstd` (RFC 8878), kept in the same way.
    case zstandard
}

/// One member of a gzip stream that has several (RFC 1952, 2.2), with what it takes to code it again exactly.
///
/// Knows how much of the content is its own, and not where that begins: the members in front say that.
public struct GzipMember: Sendable, Hashable {
    public var header: GzipHeader
    public var parameters: DeflateParameters
    /// Content octets in the member; nil for the last one, which holds what is left.
    public var size: Int?

    public init(header: GzipHeader, parameters: DeflateParameters, size: Int?) {
        self.header = header
        self.parameters = parameters
        self.size = size
    }

    /// Most members with parameters of their own. Files that were put together have a few; block formats have thousands, and a line
    /// for each would be longer than what it stands for.
    public static let limit = 16
}

/// What zlib needs to produce the same deflate stream again.
public struct DeflateParameters: Sendable, Hashable {
    /// 0…9
    public var level: Int
    /// 1…9; 8 is zlib's default.
    public var memoryLevel: Int
    /// Base two logarithm of the window, 9…15.
    public var windowBits: Int
    /// zlib's strategy constant; 0 is the default strategy.
    public var strategy: Int
    /// Where the producer flushed its compressor (Z_SYNC_FLUSH), as content octets since the flush before, or the beginning.
    public var flushes: [Int]

    /// Most flushes. A stream with more carries five octets for each of them, and is sooner kept as it came than told of.
    public static let flushLimit = 1024

    public init(level: Int, memoryLevel: Int = 8, windowBits: Int = 15, strategy: Int = 0, flushes: [Int] = []) {
        self.level = level
        self.memoryLevel = memoryLevel
        self.windowBits = windowBits
        self.strategy = strategy
        self.flushes = flushes
    }
}

extension Body {
    /// Whether a readable form was put off when the body was recorded: it lies in the raw spool, or has codings on that could be taken
    /// off, or parts that were not looked for.
    public func isUndeveloped(_ headers: HeaderFields) -> Bool {
        if case .raw = self.content { return true }
        return self.hasCodingsLeft(headers) || self.hasPartsLeft(headers)
    }

    /// Codings that could be taken off: of a body in a sidecar that was not looked at, or of one that was recorded by a build without
    /// them.
    public func hasCodingsLeft(_ headers: HeaderFields) -> Bool {
        guard self.codings.isEmpty, self.original == nil, case .coded = ContentEncoding(headers) else { return false }
        if let note = self.note { return ContentEncoding.isNoteOfUnknown(note) }
        if case .file = self.content { return true }
        return false
    }

    /// A multipart in one piece, without a note that says why: large ones are recorded so, and those of earlier versions.
    public func hasPartsLeft(_ headers: HeaderFields) -> Bool {
        guard self.note == nil else { return false }
        switch self.content {
        case .text, .binary, .file:
            guard let index = headers.firstIndex(of: "content-type"), MediaType(headers.valueBytes(at: index)).isMultipart else {
                return false
            }
            return !self.codings.isEmpty || ContentEncoding(headers) == .none
        case .empty, .encodedText, .json, .form, .lines, .events, .multipart, .raw: return false
        }
    }
}

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

/// What the Content-Encoding fields of a message say (RFC 9110, 8.4): a claim, which the octets may not keep.
public enum ContentEncoding: Sendable, Hashable {
    /// A coding that this library knows; whether this build takes it off, `isTakenOff` says.
    public enum Name: String, Sendable, Hashable, CaseIterable {
        case gzip
        /// The zlib format, or the raw one that some servers send in its place (RFC 9110, 8.4.1.2).
        case deflate
        /// RFC 7932
        case br
        /// RFC 8878
        case zstd
    }

    /// No coding, or `identity` alone.
    case none
    /// Codings in the order applied, all of which this build takes off.
    case coded([Name])
    /// A list with a coding that is not taken off, in words that are safe to print.
    case other(String)

    /// Nobody applies more; each is work when the body is taken apart.
    public static let limit = 8
    /// Of a longer list of codings only the beginning is shown.
    private static let printLimit = 64

    public init(_ headers: HeaderFields) {
        var names: [Name] = []
        var words = ""
        var isKnown = true
        for index in 0..<headers.count where headers.isNamed("content-encoding", at: index) {
            for part in headers.valueBytes(at: index).split(separator: UInt8(ascii: ",")) {
                let word = Self.word(part)
                guard !word.isEmpty, word != "identity" else { continue }
                if words.utf8.count < Self.printLimit { words += words.isEmpty ? word : ", " + word }
                guard let name = Self.name(word), name.isTakenOff, names.count < Self.limit else {
                    isKnown = false
                    continue
                }
                if isKnown { names.append(name) }
            }
        }
        if words.isEmpty {
            self = .none
        } else if isKnown {
            self = .coded(names)
        } else {
            self = .other(String(words.prefix(Self.printLimit)))
        }
    }

    /// The sentence on a body whose codings this build does not take off.
    package static func noteOfUnknown(_ words: String) -> String { "content coding \"\(words)\" is not taken off" }

    /// Whether a note says that and no more: a build that knows the coding has not looked at the body.
    static func isNoteOfUnknown(_ note: String) -> Bool {
        let parts = note.split(separator: "\"", omittingEmptySubsequences: false)
        return parts.count == 3 && note == self.noteOfUnknown(String(parts[1]))
    }

    private static func word(_ part: ArraySlice<UInt8>) -> String {
        let visible = part.lazy.filter { $0 > 32 && $0 < 127 }.map { $0 >= 65 && $0 <= 90 ? $0 | 32 : $0 }
        return String(decoding: Array(visible.prefix(Self.printLimit)), as: UTF8.self)
    }

    private static func name(_ word: String) -> Name? { word == "x-gzip" ? .gzip : Name(rawValue: word) }

    /// The extension of a file with the octets as sent.
    package var fileExtension: String? {
        switch self {
        case .none: nil
        case .coded(let names): names.last?.fileExtension
        case .other(let words): Name(rawValue: words)?.fileExtension
        }
    }
}

extension ContentEncoding.Name {
    /// br and zstd need a library of the system, which a package trait of the build asks for.
    public var isTakenOff: Bool {
        switch self {
        case .gzip, .deflate:
            return true
        case .br:
            #if CODINGS
            return true
            #else
            return false
            #endif
        case .zstd:
            #if CODINGS
            return true
            #else
            return false
            #endif
        }
    }

    /// The extension under which tools know the format.
    package var fileExtension: String {
        switch self {
        case .gzip: "gz"
        case .deflate: "zz"
        case .br: "br"
        case .zstd: "zst"
        }
    }
}

/// The header of a gzip member as received (RFC 1952, 2.3): ten bytes, and whatever optional fields follow them.
public struct GzipHeader: Sendable, Hashable {
    /// All header bytes from the magic number to the last optional field.
    public var bytes: [UInt8]

    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }
}

extension GzipHeader {
    /// No name, no time, Unix: what most servers send. A cassette leaves this one out.
    public static let plain = GzipHeader(bytes: [0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 0x03])
}
