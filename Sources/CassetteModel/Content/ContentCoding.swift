/// A content coding (RFC 9110, 8.4.1) that was removed from a body, with the data needed to apply it again exactly.
public enum ContentCoding: Sendable, Hashable {
    /// gzip (RFC 1952), with the header of the first member. Parameters are nil if they could not be determined; then `Body.original`
    /// contains the bytes.
    case gzip(DeflateParameters?, header: GzipHeader)
    /// gzip of two or more members, each of which can be encoded again.
    case gzipMembers([GzipMember])
    /// `deflate` as the zlib format (RFC 1950).
    case deflate(DeflateParameters?)
    /// `deflate` without the zlib wrapper (RFC 1951), which some servers send.
    case rawDeflate(DeflateParameters?)
    /// `br` (RFC 7932). The coded bytes are always kept, as encoders differ by version (docs/decisions/0013-br-and-zstd.md).
    case brotli
    /// `zstd` (RFC 8878). The coded bytes are always kept.
    case zstandard
}

/// One member of a gzip stream with several members (RFC 1952, 2.2), with the data needed to encode it again exactly.
///
/// Knows the size of its content, but not where that begins: this follows from the members before it.
public struct GzipMember: Sendable, Hashable {
    public var header: GzipHeader
    public var parameters: DeflateParameters
    /// The member's content in bytes; nil for the last one, which has the rest.
    public var size: Int?

    public init(header: GzipHeader, parameters: DeflateParameters, size: Int?) {
        self.header = header
        self.parameters = parameters
        self.size = size
    }

    /// The most members that are described one by one. Concatenated files have a few; block formats have thousands, whose description would
    /// be longer than the body.
    public static let limit = 16
}

/// The header of a gzip member as received (RFC 1952, 2.3): ten bytes and optional fields.
public struct GzipHeader: Sendable, Hashable {
    /// From the magic number to the last optional field.
    public var bytes: [UInt8]

    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// No name, no time, Unix: the header most servers send. A cassette omits it.
    public static let plain = GzipHeader(bytes: [0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 0x03])
}

/// The parameters zlib needs to produce the same deflate stream again.
public struct DeflateParameters: Sendable, Hashable {
    /// 0…9
    public var level: Int
    /// 1…9; 8 is zlib's default.
    public var memoryLevel: Int
    /// Base-two logarithm of the window size, 9…15.
    public var windowBits: Int
    /// zlib's strategy constant; 0 is the default strategy.
    public var strategy: Int
    /// Where the producer flushed its compressor (Z_SYNC_FLUSH), in content bytes since the previous flush or the beginning.
    public var flushes: [Int]

    /// The most flushes. Each takes five bytes of the stream; a stream with more is kept as received.
    public static let flushLimit = 1024

    public init(level: Int, memoryLevel: Int = 8, windowBits: Int = 15, strategy: Int = 0, flushes: [Int] = []) {
        self.level = level
        self.memoryLevel = memoryLevel
        self.windowBits = windowBits
        self.strategy = strategy
        self.flushes = flushes
    }
}

extension HeaderFields {
    /// Whether a body, or its gRPC messages, may have codings whose removal takes time.
    public var hasCodings: Bool { self.contains("content-encoding") || GRPCType.coding(self) != nil }
}

/// What the Content-Encoding fields of a message declare (RFC 9110, 8.4). The bytes may be different.
public enum ContentEncoding: Sendable, Hashable {
    /// A coding that this library knows; `isSupported` tells whether this build decodes it.
    public enum Name: String, Sendable, Hashable, CaseIterable {
        case gzip
        /// The zlib format, or the raw format that some servers send instead (RFC 9110, 8.4.1.2).
        case deflate
        /// RFC 7932
        case br
        /// RFC 8878
        case zstd
    }

    /// No coding, or `identity` alone.
    case none
    /// Codings in the order applied, all of which this build can remove.
    case coded([Name])
    /// A list with a coding that cannot be removed, in words that are safe to print.
    case other(String)

    /// The most codings of one body: each costs work, and no sender applies more.
    public static let limit = 8
    /// A longer list of codings is truncated to this many bytes.
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
                guard let name = Self.name(word), name.isSupported, names.count < Self.limit else {
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

    /// The note on a body whose codings this build cannot remove.
    package static func noteOfUnknown(_ words: String) -> String { "content coding \"\(words)\" is not taken off" }

    /// Whether a note is exactly one from `noteOfUnknown`: the body has not been examined by any build that supports the coding.
    static func isNoteOfUnknown(_ note: String) -> Bool {
        let parts = note.split(separator: "\"", omittingEmptySubsequences: false)
        return parts.count == 3 && note == self.noteOfUnknown(String(parts[1]))
    }

    private static func word(_ part: ArraySlice<UInt8>) -> String {
        let visible = part.lazy.filter { $0 > 32 && $0 < 127 }.map { $0 >= 65 && $0 <= 90 ? $0 | 32 : $0 }
        return String(decoding: Array(visible.prefix(Self.printLimit)), as: UTF8.self)
    }

    private static func name(_ word: String) -> Name? { word == "x-gzip" ? .gzip : Name(rawValue: word) }

    /// The extension of a file that contains the bytes as sent.
    package var fileExtension: String? {
        switch self {
        case .none: nil
        case .coded(let names): names.last?.fileExtension
        case .other(let words): Name(rawValue: words)?.fileExtension
        }
    }
}

extension ContentEncoding.Name {
    /// br and zstd need a system library, which a package trait enables.
    public var isSupported: Bool {
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

    /// The extension by which tools recognise the format.
    package var fileExtension: String {
        switch self {
        case .gzip: "gz"
        case .deflate: "zz"
        case .br: "br"
        case .zstd: "zst"
        }
    }
}
