internal import TapeCore

/// The octets of a recorded body with its codings taken off, from the cassette or from beside it; read piece by piece, again and again.
///
/// Takes codings off bodies that were recorded and not developed as well, where that works: nobody looks at a cassette for gzip.
struct BodyContents {
    /// The coding that is taken off while reading; nil where the recorder took it off, or there is none.
    let inflated: DeflateFormat?
    /// Octets, where that is known before reading.
    var size: Int? { self.inflated == nil ? self.source.size : self.inflatedSize }

    private let source: OctetSource
    private var inflatedSize: Int?

    private struct Enough: Error {}

    init(_ body: Body, headers: HeaderFields, reader: BodyReader) throws {
        let source = try BodyRestorer.decoded(
            of: body, file: { try reader.source($0, digest: PortableSHA256()) }, raw: { OctetSource(try reader.read($0)) })
        self.source = source
        var inflated: DeflateFormat?
        if body.isUndeveloped(headers), let format = try Self.format(source, headers) {
            let (status, size) = try Self.inflate(source, format) { _ in }
            // Of a body that was cut, what came can be read.
            var isCut = false
            if case .failed(let problem) = status { isCut = problem.kind == .truncated && !body.isComplete }
            if status == .ended || isCut {
                inflated = format
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

    private static func format(_ source: OctetSource, _ headers: HeaderFields) throws -> DeflateFormat? {
        switch ContentEncoding(headers) {
        case .none, .other: return nil
        case .gzip: return .gzip
        case .deflate:
            guard source.size >= 2 else { return nil }
            var start: [UInt8] = [0, 0]
            try start.withUnsafeMutableBytes { try source.read(at: 0, into: $0) }
            // RFC 1950, 2.2: the method, and a check over both octets. Without them it is the raw format, which some servers send.
            return start[0] & 15 == 8 && (Int(start[0]) << 8 | Int(start[1])) % 31 == 0 ? .zlib : .raw
        }
    }

    private static func inflate(
        _ source: OctetSource, _ format: DeflateFormat, _ deliver: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> (status: InflateStatus, size: Int) {
        var inflater = Inflater(format: format, limits: .file(codedSize: source.size))
        try source.forEachPiece(while: { try inflater.push($0, deliver: deliver) == .needsMore })
        return (inflater.finish(), inflater.produced)
    }
}
