internal import CassetteFormat
internal import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// The octets of a recorded body with its codings taken off, from the cassette or from beside it; read piece by piece, again and again.
///
/// Takes codings off bodies that were recorded and not developed as well, where that works: nobody looks at a cassette for gzip.
struct BodyContents {
    /// The codings that are taken off while reading, in the order applied; nil where the recorder took them off, or there are none.
    let inflated: [ContentEncoding.Name]?
    /// Where and why the coded octets break, where only what is in front of that place is read.
    let breaking: Breaking?
    /// Octets.
    let size: Int

    struct Breaking {
        var name: ContentEncoding.Name
        var problem: InflateProblem
    }

    /// Content that was freed of its codings up to this is kept, so that it is not done again for each part.
    static let keptSize = 16 << 20

    private let source: OctetSource
    /// The codings that `source` has on.
    private let codings: [ContentEncoding.Name]
    /// Octets in front of these, where they are a part of a body.
    private let start: Int

    private struct Enough: Error {}

    /// - Parameters:
    ///   - readsBroken: whether of coded octets that break the readable beginning stands for all; else they are left as they are.
    ///   - keptSize: content freed of its codings up to this is kept in memory.
    init(_ body: Body, headers: HeaderFields, reader: BodyReader, readsBroken: Bool = false, keptSize: Int = Self.keptSize) throws {
        let source = try BodyRestorer.decoded(
            of: body, file: { try reader.source($0, digest: PortableSHA256()) }, raw: { OctetSource(try reader.read($0)) })
        self.start = 0
        var content = source
        var codings: [ContentEncoding.Name] = []
        var inflated: [ContentEncoding.Name]?
        var breaking: Breaking?
        var size = source.size
        let isCoded = body.isUndeveloped(headers) || readsBroken && body.codings.isEmpty && body.note != nil
        if isCoded, case .coded(let names) = ContentEncoding(headers) {
            var kept: [UInt8] = []
            let found = try Self.inflate(source, names) { piece in
                if kept.count <= keptSize { kept.append(contentsOf: piece) }
            }
            // Of a body that was cut, what came can be read.
            let isWhole = found.breaking == nil || found.breaking?.problem.kind == .truncated && !body.isComplete
            if isWhole || readsBroken && found.size > 0 && found.breaking?.isBomb == false {
                inflated = names
                size = found.size
                breaking = isWhole ? nil : found.breaking
                if kept.count == size, size <= keptSize { content = OctetSource(kept) } else { codings = names }
            }
        }
        self.source = content
        self.codings = codings
        self.inflated = inflated
        self.breaking = breaking
        self.size = size
    }

    /// Octets that are in memory.
    init(_ octets: [UInt8]) {
        self.init(OctetSource(octets), [], start: 0, size: octets.count)
    }

    private init(_ source: OctetSource, _ codings: [ContentEncoding.Name], start: Int, size: Int) {
        self.source = source
        self.codings = codings
        self.start = start
        self.size = size
        self.inflated = nil
        self.breaking = nil
    }

    /// The octets of a part, as far as they are there.
    func part(_ range: Range<Int>) -> BodyContents {
        let range = range.clamped(to: 0..<self.size)
        return BodyContents(self.source, self.codings, start: self.start + range.lowerBound, size: range.count)
    }

    /// The same octets for who reads them at many places: in a temporary file without their codings, which would be taken off each time.
    func atHand() throws -> BodyContents {
        guard !self.codings.isEmpty else { return self }
        let file = try TemporaryFile { write in try self.forEachPiece(write) }
        return BodyContents(file.source, [], start: 0, size: file.size)
    }

    /// Pieces in order, until `deliver` answers no.
    func forEachPiece(while deliver: (UnsafeRawBufferPointer) throws -> Bool) throws {
        guard self.size > 0 else { return }
        var left = self.size
        func limited(_ piece: UnsafeRawBufferPointer) throws -> Bool {
            let room = UnsafeRawBufferPointer(rebasing: piece.prefix(left))
            left -= room.count
            return try deliver(room) && left > 0
        }
        guard !self.codings.isEmpty else { return try self.source.forEachPiece(from: self.start, while: limited) }
        var skipped = 0
        do {
            _ = try Self.inflate(self.source, self.codings) { piece in
                let skip = min(piece.count, self.start - skipped)
                skipped += skip
                guard skip < piece.count else { return }
                guard try limited(UnsafeRawBufferPointer(rebasing: piece[skip...])) else { throw Enough() }
            }
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
        guard self.size <= limit else { return nil }
        return try self.prefix(self.size)
    }

    /// The first octets.
    func prefix(_ count: Int) throws -> [UInt8] {
        var octets: [UInt8] = []
        guard count > 0 else { return octets }
        octets.reserveCapacity(min(count, self.size))
        try self.forEachPiece(while: { piece in
            octets.append(contentsOf: piece.prefix(count - octets.count))
            return octets.count < count
        })
        return octets
    }

    // MARK: Codings

    private static func inflate(
        _ source: OctetSource, _ names: [ContentEncoding.Name], _ deliver: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> (breaking: Breaking?, size: Int) {
        guard let chain = DecoderChain(names, limits: .file(codedSize: source.size)) else {
            let problem = InflateProblem(.unsupported, offset: 0, reason: "this build does not know the coding")
            return (Breaking(name: names[0], problem: problem), 0)
        }
        try source.forEachPiece(while: { try chain.push($0, deliver: deliver) })
        _ = chain.finish()
        return (chain.problem.map { Breaking(name: $0.name, problem: $0.problem) }, chain.produced)
    }
}

extension BodyContents.Breaking {
    /// Stopped by a limit, not by a defect.
    var isBomb: Bool {
        switch self.problem.kind {
        case .tooLong, .tooDense, .outOfMemory: true
        case .corrupt, .truncated, .wrongChecksum, .wrongLength, .unsupported: false
        }
    }
}
