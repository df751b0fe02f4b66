internal import TapeCore

/// The octets of a recorded body with its codings taken off, from the cassette or from beside it; read piece by piece, again and again.
///
/// Takes codings off bodies that were recorded and not developed as well, where that works: nobody looks at a cassette for gzip.
struct BodyContents {
    /// The codings that are taken off while reading, in the order applied; nil where the recorder took them off, or there are none.
    let inflated: [ContentEncoding.Name]?
    /// Octets, where that is known before reading.
    var size: Int? { self.inflated == nil ? self.source.size : self.inflatedSize }

    private let source: OctetSource
    private var inflatedSize: Int?

    private struct Enough: Error {}

    init(_ body: Body, headers: HeaderFields, reader: BodyReader) throws {
        let source = try BodyRestorer.decoded(
            of: body, file: { try reader.source($0, digest: PortableSHA256()) }, raw: { OctetSource(try reader.read($0)) })
        self.source = source
        var inflated: [ContentEncoding.Name]?
        if body.isUndeveloped(headers), case .coded(let names) = ContentEncoding(headers) {
            let (problem, size) = try Self.inflate(source, names) { _ in }
            // Of a body that was cut, what came can be read.
            if problem == nil || problem?.kind == .truncated && !body.isComplete {
                inflated = names
                self.inflatedSize = size
            }
        }
        self.inflated = inflated
    }

    /// Pieces in order, until `deliver` answers no.
    func forEachPiece(while deliver: (UnsafeRawBufferPointer) throws -> Bool) throws {
        guard let inflated else { return try self.source.forEachPiece(while: deliver) }
        do {
            _ = try Self.inflate(self.source, inflated) { guard try deliver($0) else { throw Enough() } }
        } catch is Enough {}
    }

    func forEachPiece(_ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        try self.forEachPiece(while: { piece in
            try deliver(piece)
            return true
        })
    }

    /// All octets, or nil where they are more than `limit`.
    func load(limit: Int) throws -> [UInt8]? {
        if let size = self.size, size > limit { return nil }
        var octets: [UInt8] = []
        try self.forEachPiece { octets.append(contentsOf: $0) }
        return octets
    }

    /// The first octets.
    func prefix(_ count: Int) throws -> [UInt8] {
        var octets: [UInt8] = []
        try self.forEachPiece(while: { piece in
            octets.append(contentsOf: piece.prefix(count - octets.count))
            return octets.count < count
        })
        return octets
    }

    // MARK: Codings

    private static func inflate(
        _ source: OctetSource, _ names: [ContentEncoding.Name], _ deliver: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> (problem: InflateProblem?, size: Int) {
        guard let chain = DecoderChain(names, limits: .file(codedSize: source.size)) else {
            return (InflateProblem(.unsupported, offset: 0, reason: "this build does not know the coding"), 0)
        }
        try source.forEachPiece(while: { try chain.push($0, deliver: deliver) })
        _ = chain.finish()
        return (chain.problem?.problem, chain.produced)
    }
}
