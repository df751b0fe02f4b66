public import CassetteFormat
public import CassetteModel
public import TapeBytes

/// A cassette opened for reading. Knows the position of each interaction, and reads its bytes on demand.
///
/// Never writes. Keeps sixteen bytes for each interaction in memory. Any thread may use it.
public final class CassetteReader: Sendable {
    public let path: String
    /// The damage of a torn file; nil if it is intact.
    public let damage: CassetteDamage?
    private let shared: SharedFile
    private let index: CassetteIndex

    /// Throws `notFound`, `damaged` (empty, not a cassette, or invalid; with file and line), or `unsupportedVersion`.
    public convenience init(path: String) throws(CassetteError) {
        let shared = try Self.open(path)
        self.init(shared, index: try CassetteScanner.scan(shared.file))
    }

    /// Also reads the summaries of all interactions on the way.
    public convenience init(path: String, summaries: inout InteractionSummaries) throws(CassetteError) {
        let shared = try Self.open(path)
        let result = try CassetteScanner.summarize(shared)
        self.init(shared, index: result.index)
        summaries = result.summaries
    }

    private static func open(_ path: String) throws(CassetteError) -> SharedFile {
        let shared = SharedFile(try OpenFile(path, for: .read))
        guard try shared.file.size() > 0 else { throw CassettePlace.emptyFileError(path) }
        return shared
    }

    init(_ shared: SharedFile, index: CassetteIndex) {
        self.path = shared.file.path
        self.damage = index.damage.isEmpty ? nil : CassetteDamage(path: shared.file.path, stretches: index.damage)
        self.shared = shared
        self.index = index
    }

    /// The number of intact interactions.
    public var count: Int { self.index.interactions.count }

    /// The range of an interaction in the file, from its `{` to its `}` inclusive.
    public func range(at index: Int) -> Range<Int> { self.index.interactions[index] }

    /// An interaction's JSON text as in the file.
    public func bytes(at index: Int) throws(CassetteError) -> [UInt8] {
        try CassetteError.checkCancellation()
        return try self.shared.file.read(self.index.interactions[index])
    }

    /// An interaction. An error contains the file and the line.
    public func interaction(at index: Int) throws(CassetteError) -> Interaction {
        let bytes = try self.bytes(at: index)
        do {
            return try InteractionDecoder.decode(bytes, at: .textAlone)
        } catch {
            // Decoded again for the error message: finding the line requires reading the file up to it.
            return try InteractionDecoder.decode(bytes, at: InteractionPlace(file: self.path, line: self.line(at: index)))
        }
    }

    /// The line on which an interaction begins, counted from 1. Reads the file up to it, so it is only for error messages.
    public func line(at index: Int) throws(CassetteError) -> Int {
        var number = 1
        try self.shared.file.forEachPiece(in: 0..<self.index.interactions[index].lowerBound) { bytes, _ in
            for byte in bytes where byte == 0x0a { number += 1 }
            return true
        }
        return number
    }

    /// The document before its first interaction, including the `[`; empty if the file is torn before that.
    public func head() throws(CassetteError) -> [UInt8] {
        try self.shared.file.read(0..<(self.index.headEnd ?? 0))
    }

    /// The document from the `]` of its interactions to its end; empty if that is missing.
    public func tail() throws(CassetteError) -> [UInt8] {
        guard let arrayEnd = self.index.arrayEnd, let documentEnd = self.index.documentEnd else { return [] }
        return try self.shared.file.read(arrayEnd..<documentEnd)
    }
}

/// The parts that a torn cassette has lost; its other interactions are intact.
///
/// There is none for a file that is invalid rather than torn: reading it throws.
public struct CassetteDamage: Sendable, Hashable {
    /// A range of the file that is left out.
    public struct Stretch: Sendable, Hashable {
        /// Byte range in the file; empty if only closing brackets are missing.
        public var bytes: Range<Int>
        /// The line on which it begins, counted from 1.
        public var line: Int
        /// What is wrong there, for people.
        public var reason: String
        /// How many interactions begin in it; nil if unknown.
        public var interactions: Int?

        public init(bytes: Range<Int>, line: Int, reason: String, interactions: Int?) {
            self.bytes = bytes
            self.line = line
            self.reason = reason
            self.interactions = interactions
        }
    }

    public var path: String
    public var stretches: [Stretch]
    /// Where a repair has stored the bytes that it removed from the file.
    public var keptAt: String?

    public init(path: String, stretches: [Stretch], keptAt: String? = nil) {
        self.path = path
        self.stretches = stretches
        self.keptAt = keptAt
    }

    /// How many interactions were lost; nil if unknown.
    public var interactions: Int? {
        var sum = 0
        for stretch in self.stretches {
            guard let count = stretch.interactions else { return nil }
            sum += count
        }
        return sum
    }

    public var byteCount: Int { self.stretches.reduce(0) { $0 + $1.bytes.count } }

    /// One sentence for people.
    public var summary: String {
        let lost: String
        switch self.interactions {
        case nil: lost = "an unknown number of exchanges"
        case 0: lost = "no exchange"
        case 1: lost = "1 exchange"
        case let count?: lost = "\(count) exchanges"
        }
        var text = "\"\(self.path)\" is torn: \(lost) lost, \(self.byteCount) bytes left out"
        if let first = self.stretches.first { text += ", from line \(first.line) (\(first.reason))" }
        if self.stretches.count > 1 { text += " and in \(self.stretches.count - 1) more places" }
        if let keptAt = self.keptAt { text += "; the bytes are kept in \"\(keptAt)\"" }
        return text
    }
}

/// The positions of the parts of a cassette's document in the file.
struct CassetteIndex: Sendable {
    /// The version of the format that is written.
    static let version = 2
    /// The versions that can be read. Version 1 has no gRPC messages; its readers would take them for an empty body.
    static let readable = 1...Self.version

    var size = 0
    /// The offset after the `[` of `interactions`; nil if the file is torn before it.
    var headEnd: Int?
    /// From the `{` of each intact interaction to its `}` inclusive, in the order of the file.
    var interactions: [Range<Int>] = []
    /// The offset of the `]` of `interactions`; nil if it is missing.
    var arrayEnd: Int?
    /// The offset after the document's `}`; nil if it is missing.
    var documentEnd: Int?
    var damage: [CassetteDamage.Stretch] = []
    /// The offset of an older version's digit; nil if the document has the current version.
    var oldVersion: Int?

    /// The offset after the last interaction, or after the `[`, where the next one is written.
    var insertion: Int? { self.interactions.last?.upperBound ?? self.headEnd }
}

/// The outer white space and brackets of a cassette as written by the recorder.
enum CassetteLayout {
    static let beginning = Self.beginning(of: CassetteIndex.version)

    static func beginning(of version: Int) -> [UInt8] { Array("{\n  \"wiretape\": \(version),\n".utf8) }

    /// The digit of the version that is written.
    static let versionDigit = UInt8(ascii: "0") + UInt8(CassetteIndex.version)

    /// The beginning of a document with its older version replaced by the current one.
    static func raised(_ head: [UInt8]) -> [UInt8] {
        var structure = CassetteStructure()
        head.withUnsafeBytes { structure.consume($0, at: 0) }
        var head = head
        if let offset = structure.oldVersion { head[offset] = self.versionDigit }
        return head
    }

    /// The text after the `[` if there is no interaction.
    static let emptyClosing = Array("]\n}\n".utf8)
    /// The text after the last interaction.
    static let closing = Array("\n  ]\n}\n".utf8)
    static let indentation = Array("    ".utf8)

    /// Everything before the first interaction, including the `[`.
    static func head(recorder: String, members: [UnknownMember]) -> [UInt8] {
        var bytes = self.beginning
        bytes += Array("  \"recorder\": ".utf8) + self.string(recorder) + Array(",\n".utf8)
        for member in members { bytes += Array("  ".utf8) + self.string(member.name) + Array(": ".utf8) + member.json + Array(",\n".utf8) }
        return bytes + Array("  \"interactions\": [".utf8)
    }

    private static func string(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0..<0x20: bytes += Array("\\u00\(Hex.encode([byte]))".utf8)
            default: bytes.append(byte)
            }
        }
        return bytes + [UInt8(ascii: "\"")]
    }
}
