public import CassetteModel
public import TapeBytes

/// Restores the bytes of a recorded body: either the wire bytes, or those of the content without its codings.
///
/// Reads no files: the caller supplies sidecars and raw slices, and checks their digests.
public enum BodyRestorer {
    /// The bytes of a body, and whether they are still the recorded ones.
    public struct Restored: Sendable, Hashable {
        public var bytes: [UInt8]
        /// True if the content was edited by hand, or if this system's zlib encodes it differently. The bytes are correct for the content,
        /// and Content-Length has to be adjusted to them.
        public var isEdited: Bool
    }

    /// The bytes as they crossed the wire, after transfer decoding.
    ///
    /// If `digest`, a SHA-256, is given, coded bytes are compared with the recorded ones; otherwise only their number is.
    public static func wireBytes(
        of body: Body, file: (Sidecar) throws -> [UInt8], raw: (RawSlice) throws -> [UInt8], digest: (any ContentDigest)? = nil
    ) throws -> Restored {
        let sources = try Sources(body, file: { ByteSource(try file($0)) }, raw: { ByteSource(try raw($0)) })
        if let bytes = sources.verbatim?.memory, !sources.isRestored {
            return Restored(bytes: bytes, isEdited: bytes.count != body.size)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(min(max(body.size, 0), 1 << 20))
        let isEdited = try self.stream(body, sources, digest) { bytes.append(contentsOf: $0) }
        return Restored(bytes: bytes, isEdited: isEdited)
    }

    /// Like `wireBytes`, but in pieces, for sidecars that are too large to load. Returns whether the bytes differ from the recorded ones.
    public static func streamWire(
        of body: Body, file: (Sidecar) throws -> ByteSource, raw: (RawSlice) throws -> ByteSource,
        digest: (any ContentDigest)? = nil, deliver: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Bool {
        try self.stream(body, try Sources(body, file: file, raw: raw), digest, deliver)
    }

    /// Like `streamWire`, but the caller takes one piece after the other. Edited content is encoded in its present form, without being
    /// reported.
    public static func open(
        _ body: Body, file: (Sidecar) throws -> ByteSource, raw: (RawSlice) throws -> ByteSource
    ) throws -> RestoredStream {
        let sources = try Sources(body, file: file, raw: raw)
        if let verbatim = sources.verbatim { return RestoredStream(verbatim, nil) }
        return RestoredStream(sources.content, try EncoderChain(sources.codings))
    }

    /// The content without its codings, for people and for HAR. For a raw body, these are its wire bytes.
    public static func decodedBytes(
        of body: Body, file: (Sidecar) throws -> [UInt8], raw: (RawSlice) throws -> [UInt8]
    ) throws -> [UInt8] {
        try self.decoded(of: body, file: { ByteSource(try file($0)) }, raw: { ByteSource(try raw($0)) }).load()
    }

    /// Like `decodedBytes`, for contents that are too large to load.
    public static func decoded(
        of body: Body, file: (Sidecar) throws -> ByteSource, raw: (RawSlice) throws -> ByteSource
    ) throws -> ByteSource {
        switch body.content {
        case .empty, .text, .encodedText, .json, .form, .lines, .events, .binary: ByteSource(body.content.inlineBytes ?? [])
        case .multipart(let multipart): try multipart.source(file: file)
        case .grpc(let messages): try messages.source(file: file)
        case .file(let sidecar): try file(sidecar)
        case .raw(let slice): try raw(slice)
        }
    }

    /// The wire bytes of a body without codings, to be read in pieces.
    public static func uncoded(
        _ body: Body, file: (Sidecar) throws -> ByteSource, raw: (RawSlice) throws -> ByteSource
    ) throws -> ByteSource {
        precondition(body.codings.isEmpty)
        return try Sources(body, file: file, raw: raw).content
    }

    /// The source of the bytes: stored as they were, or to be encoded again.
    private struct Sources {
        var verbatim: ByteSource?
        var content: ByteSource
        var codings: [ContentCoding]
        /// Whether the content differs from that of the stored wire bytes.
        var isEdited = false
        /// Whether messages in the content were encoded again.
        var isRestored = false

        init(_ body: Body, file: (Sidecar) throws -> ByteSource, raw: (RawSlice) throws -> ByteSource) throws {
            self.codings = body.codings
            if let original = body.original, case .file = body.content {
                // A sidecar is named by its digest and cannot be edited, so the recorded bytes are used.
                let bytes = try file(original)
                (self.verbatim, self.content) = (bytes, bytes)
                return
            }
            if case .grpc(let messages) = body.content { self.isRestored = messages.hasCodings }
            var parts: MultipartBody<ByteSource>?
            if case .multipart(let multipart) = body.content { parts = try multipart.sources(file: file) }
            self.content = try parts?.source ?? BodyRestorer.decoded(of: body, file: file, raw: raw)
            if let original = body.original {
                let bytes = try file(original)
                self.isEdited = try !BodyRestorer.encodes(bytes, self.content, self.codings)
                if !self.isEdited { self.verbatim = bytes }
            } else if self.codings.isEmpty {
                self.verbatim = self.content
            }
            if let parts, body.original == nil || self.isEdited { try MultipartCheck.check(parts) }
        }
    }

    private static func stream(
        _ body: Body, _ sources: Sources, _ digest: (any ContentDigest)?, _ deliver: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Bool {
        if let verbatim = sources.verbatim, !sources.isRestored {
            try verbatim.forEachPiece(deliver)
            return verbatim.size != body.size
        }
        let encoder = try EncoderChain(sources.verbatim == nil ? sources.codings : [])
        var size = 0
        var check = body.sha256 == nil ? nil : digest
        func hand(over piece: UnsafeRawBufferPointer) throws {
            size += piece.count
            check?.update(piece)
            try deliver(piece)
        }
        try (sources.verbatim ?? sources.content).forEachPiece { try encoder.push($0, deliver: hand) }
        try encoder.finish(deliver: hand)
        if sources.isEdited || size != body.size { return true }
        return (check?.finalize()).map { Hex.encode($0) != body.sha256 } ?? false
    }

    /// Whether `bytes` are the coded form of `content`. If not, the content was edited. Stops at the first difference.
    ///
    /// If this build does not support a coding, nothing can be compared, and the recorded bytes are used.
    static func encodes(_ bytes: ByteSource, _ content: ByteSource, _ codings: [ContentCoding]) throws -> Bool {
        struct Differs: Error {}
        // The length of unedited content.
        let expected = content.size
        // Between two codings, there may be more bytes than in the content; the recorder observed this limit.
        let output = codings.count > 1 ? max(expected, InflateLimits.file(codedSize: bytes.size).output) : expected
        let limits = InflateLimits(output: output, ratio: .max)
        guard !codings.isEmpty, let chain = DecoderChain(codings.map { ($0.name, $0.format) }, limits: limits) else { return true }
        var position = 0
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ByteSource.pieceSize, alignment: 16)
        defer { buffer.deallocate() }
        do {
            try bytes.forEachPiece(while: { input in
                try chain.push(input) { piece in
                    guard piece.count <= expected - position else { throw Differs() }
                    for start in stride(from: 0, to: piece.count, by: buffer.count) {
                        let part = UnsafeRawBufferPointer(rebasing: piece[start..<min(piece.count, start + buffer.count)])
                        let own = UnsafeMutableRawBufferPointer(rebasing: buffer[..<part.count])
                        try content.read(at: position, into: own)
                        guard UnsafeRawBufferPointer(own).elementsEqualFast(part) else { throw Differs() }
                        position += part.count
                    }
                }
            })
        } catch is Differs {
            return false
        }
        return chain.finish() && position == expected
    }
}

extension ContentCoding {
    package var name: ContentEncoding.Name {
        switch self {
        case .gzip, .gzipMembers: .gzip
        case .deflate, .rawDeflate: .deflate
        case .brotli: .br
        case .zstandard: .zstd
        }
    }

    package var format: DeflateFormat? {
        switch self {
        case .gzip, .gzipMembers: .gzip
        case .deflate: .zlib
        case .rawDeflate: .raw
        case .brotli, .zstandard: nil
        }
    }
}

/// The wire bytes of a body, encoded again piece by piece on request.
///
/// Holds one piece and the encoders' windows, however large the body is. Must be used by one thread at a time.
public final class RestoredStream {
    /// The least size of a piece, except for the last one.
    public static let pieceSize = 256 << 10

    private let source: ByteSource
    /// Nil if the source already contains the wire bytes.
    private let encoder: EncoderChain?
    private var position = 0
    /// Whether all bytes were returned.
    public private(set) var isEnded = false

    init(_ source: ByteSource, _ encoder: EncoderChain?) {
        self.source = source
        self.encoder = encoder
    }

    /// The next bytes; empty if there are none left. Throws errors of the source and the encoders.
    public func next() throws -> [UInt8] {
        var piece: [UInt8] = []
        while !self.isEnded, piece.count < Self.pieceSize {
            var content = [UInt8](repeating: 0, count: min(ByteSource.pieceSize, self.source.size - self.position))
            try content.withUnsafeMutableBytes { try self.source.read(at: self.position, into: $0) }
            self.position += content.count
            self.isEnded = self.position == self.source.size
            guard let encoder = self.encoder else {
                piece += content
                continue
            }
            try content.withUnsafeBytes { try encoder.push($0) { piece.append(contentsOf: $0) } }
            if self.isEnded { try encoder.finish { piece.append(contentsOf: $0) } }
        }
        return piece
    }
}
