/// The way back from a recorded body to octets: those of the wire, or those of the content without its codings.
///
/// Reads no files: sidecars and raw slices come from the caller, who checks their digests.
public enum BodyRestorer {
    /// Octets of a body, and whether they are still the recorded ones.
    public struct Restored: Sendable, Hashable {
        public var octets: [UInt8]
        /// True where the content was edited by hand, or this system's zlib codes it differently: the octets are right for the content,
        /// and Content-Length has to follow them.
        public var isEdited: Bool
    }

    /// With what edited content is coded where the recorded coding was never reproduced.
    static let fallback = DeflateParameters(level: 6)

    /// The octets as they crossed the wire, after transfer decoding.
    ///
    /// With `digest`, a SHA-256, coded octets are compared with the recorded ones; without it only their number is.
    public static func wireBytes(
        of body: Body, file: (Sidecar) throws -> [UInt8], raw: (RawSlice) throws -> [UInt8], digest: (any ContentDigest)? = nil
    ) throws -> Restored {
        let sources = try Sources(body, file: { OctetSource(try file($0)) }, raw: { OctetSource(try raw($0)) })
        if let octets = sources.verbatim?.memory {
            return Restored(octets: octets, isEdited: octets.count != body.size)
        }
        var octets: [UInt8] = []
        octets.reserveCapacity(min(max(body.size, 0), 1 << 20))
        let isEdited = try self.stream(body, sources, digest) { octets.append(contentsOf: $0) }
        return Restored(octets: octets, isEdited: isEdited)
    }

    /// As above in pieces, for sidecars that are too large to load. Answers whether the octets are not the recorded ones.
    public static func streamWire(
        of body: Body, file: (Sidecar) throws -> OctetSource, raw: (RawSlice) throws -> OctetSource,
        digest: (any ContentDigest)? = nil, deliver: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Bool {
        try self.stream(body, try Sources(body, file: file, raw: raw), digest, deliver)
    }

    /// The content after its codings were taken off, for people and for HAR. A raw body gives its wire octets.
    public static func decodedBytes(
        of body: Body, file: (Sidecar) throws -> [UInt8], raw: (RawSlice) throws -> [UInt8]
    ) throws -> [UInt8] {
        try self.decoded(of: body, file: { OctetSource(try file($0)) }, raw: { OctetSource(try raw($0)) }).load()
    }

    /// As above for contents that are too large to load.
    public static func decoded(
        of body: Body, file: (Sidecar) throws -> OctetSource, raw: (RawSlice) throws -> OctetSource
    ) throws -> OctetSource {
        switch body.content {
        case .empty: OctetSource([])
        case .text(let octets), .json(let octets, _), .binary(let octets): OctetSource(octets)
        case .file(let sidecar): try file(sidecar)
        case .raw(let slice): try raw(slice)
        }
    }

    /// Where the octets come from: as they lie there, or to be coded again.
    private struct Sources {
        var verbatim: OctetSource?
        var content: OctetSource
        var coding: ContentCoding?
        /// The content is not what the kept wire octets hold.
        var isEdited = false

        init(_ body: Body, file: (Sidecar) throws -> OctetSource, raw: (RawSlice) throws -> OctetSource) throws {
            guard body.codings.count <= 1 else {
                throw CassetteError(.damaged, "a body names \(body.codings.count) codings: this version puts back one; record it again")
            }
            self.coding = body.codings.first
            if let original = body.original, case .file = body.content {
                // A sidecar is named by its digest and cannot be edited: the recorded octets hold.
                let octets = try file(original)
                (self.verbatim, self.content) = (octets, octets)
                return
            }
            self.content = try BodyRestorer.decoded(of: body, file: file, raw: raw)
            if let original = body.original {
                let octets = try file(original)
                self.isEdited = try !BodyRestorer.codes(octets, self.content, self.coding)
                if !self.isEdited { self.verbatim = octets }
            } else if self.coding == nil {
                self.verbatim = self.content
            }
        }
    }

    private static func stream(
        _ body: Body, _ sources: Sources, _ digest: (any ContentDigest)?, _ deliver: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Bool {
        if let verbatim = sources.verbatim {
            try verbatim.forEachPiece(deliver)
            return verbatim.size != body.size
        }
        let (format, parameters, header) = self.parts(of: sources.coding)
        guard var deflater = Deflater(parameters ?? self.fallback, format: format, header: header) else {
            throw CassetteError(
                .damaged,
                "zlib does not take the parameters of a body's \(format) coding: give level 0…9, memory 1…9, window 9…15, strategy 0…4")
        }
        var size = 0
        var check = body.sha256 == nil ? nil : digest
        func hand(over piece: UnsafeRawBufferPointer) throws -> Bool {
            size += piece.count
            check?.update(piece)
            try deliver(piece)
            return true
        }
        try sources.content.forEachPiece { _ = try deflater.push($0, isLast: false, deliver: hand) }
        try deflater.push(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true, deliver: hand)
        if sources.isEdited || size != body.size { return true }
        return (check?.finalize()).map { Hex.encode($0) != body.sha256 } ?? false
    }

    private static func parts(of coding: ContentCoding?) -> (DeflateFormat, DeflateParameters?, GzipHeader) {
        switch coding {
        case .gzip(let parameters, let header): (.gzip, parameters, header)
        case .deflate(let parameters): (.zlib, parameters, .plain)
        case .rawDeflate(let parameters): (.raw, parameters, .plain)
        case nil: (.raw, nil, .plain)
        }
    }

    /// Whether `octets` are the coded form of `content`: if not, the content was edited. Stops at the first difference.
    private static func codes(_ octets: OctetSource, _ content: OctetSource, _ coding: ContentCoding?) throws -> Bool {
        struct Differs: Error {}
        guard coding != nil else { return true }
        // Content that was not edited is as long as this; content is in memory here.
        let expected = try content.load()
        var inflater = Inflater(format: self.parts(of: coding).0, limits: InflateLimits(output: expected.count, ratio: .max))
        var position = 0
        do {
            try octets.forEachPiece { input in
                try inflater.push(input) { piece in
                    let isSame = expected.withUnsafeBytes {
                        UnsafeRawBufferPointer(rebasing: $0[position..<position + piece.count]).elementsEqualFast(piece)
                    }
                    guard isSame else { throw Differs() }
                    position += piece.count
                }
            }
        } catch is Differs {
            return false
        }
        return inflater.status == .ended && position == expected.count
    }
}
