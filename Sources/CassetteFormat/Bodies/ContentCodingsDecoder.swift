internal import CassetteModel

/// Decodes the content codings of a body one after the other, in memory as long as each result fits.
///
/// Does not check that they can be restored, and stores nothing.
struct ContentCodingsDecoder {
    typealias Coding = (name: ContentEncoding.Name, format: DeflateFormat?)

    enum Result {
        /// The whole content, and each coding with its coded bytes, from the outermost to the innermost.
        case whole([UInt8], [(layer: DecodedLayer, wire: ByteSource)])
        /// More than `WireBodyDecoder.memoryLimit` was produced. Contains the beginning of the content, and the codings in the order
        /// applied.
        case large([UInt8], [Coding])
    }

    struct Undecodable: Error {
        var name: ContentEncoding.Name
        var problem: InflateProblem
    }

    private enum Attempt {
        case whole([UInt8], DecodedLayer)
        case large([UInt8], DeflateFormat?)
        case failed(InflateProblem)
    }

    /// Owned by the caller, since allocating zlib's memory costs more than a small body.
    private let inflater: InflatingDecoder

    init(_ inflater: InflatingDecoder) {
        self.inflater = inflater
    }

    /// `names` are in the order applied. Throws `Undecodable` and errors of the source.
    func decode(_ wire: ByteSource, _ names: [ContentEncoding.Name]) throws -> Result {
        var layers: [(layer: DecodedLayer, wire: ByteSource)] = []
        var bytes = wire
        var content: [UInt8] = []
        for name in names.reversed() {
            switch try self.attempt(bytes, name) {
            case .failed(let problem):
                throw Undecodable(name: name, problem: problem)
            case .large(let beginning, let format) where names.count == 1:
                return .large(beginning, [(name, format)])
            case .large:
                let beginning = try DecodedBeginning.read(wire, .coded(names), limit: ByteSource.pieceSize)
                return .large(beginning.bytes, names.map { ($0, nil) })
            case .whole(let decoded, let layer):
                layers.append((layer, bytes))
                content = decoded
                bytes = ByteSource(decoded)
            }
        }
        return .whole(content, layers)
    }

    /// Decodes all codings in pieces, under the limits for a file. Returns the codings found, from the outermost to the innermost.
    static func stream(
        _ wire: ByteSource, _ codings: [Coding], _ deliver: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> [DecodedLayer] {
        guard let chain = DecoderChain(codings, limits: .file(codedSize: wire.size)) else { return [] }
        try wire.forEachPiece(while: { try chain.push($0, deliver: deliver) })
        guard chain.finish() else {
            if let (name, problem) = chain.problem { throw Undecodable(name: name, problem: problem) }
            return []
        }
        let layers = chain.found
        for layer in layers {
            if let problem = layer.problem { throw Undecodable(name: layer.name, problem: problem) }
        }
        return layers
    }

    private func attempt(_ wire: ByteSource, _ name: ContentEncoding.Name) throws -> Attempt {
        // Reaching this limit is not a failure: the content is then decoded in pieces, under the limits for a file.
        let limits = InflateLimits(output: WireBodyDecoder.memoryLimit)
        switch name {
        case .gzip: return try self.inflated(wire, name, .gzip, limits)
        case .deflate: return try self.deflate(wire, limits)
        case .br:
            #if CODINGS
            return try self.attempt(wire, name, BrotliDecoder(limits: limits))
            #else
            return .failed(Self.isMissing)
            #endif
        case .zstd:
            #if CODINGS
            return try self.attempt(wire, name, ZstandardDecoder(limits: limits))
            #else
            return .failed(Self.isMissing)
            #endif
        }
    }

    private static let isMissing = InflateProblem(.unsupported, offset: 0, reason: "this build does not know the coding")

    private func deflate(_ wire: ByteSource, _ limits: InflateLimits) throws -> Attempt {
        // RFC 9110, 8.4.1.2: some send the raw format. Two bytes can look like zlib's by chance, so both are tried.
        let zlib = try self.inflated(wire, .deflate, .zlib, limits)
        guard case .failed(let zlibProblem) = zlib else { return zlib }
        let raw = try self.inflated(wire, .deflate, .raw, limits)
        guard case .failed = raw else { return raw }
        // A problem after the first two bytes means that zlib's header was valid, so zlib's problem is more informative.
        return zlibProblem.offset > 2 ? zlib : raw
    }

    private func inflated(
        _ wire: ByteSource, _ name: ContentEncoding.Name, _ format: DeflateFormat, _ limits: InflateLimits
    ) throws -> Attempt {
        if let bytes = wire.memory, let stream = WholeStream(bytes, format, limits) {
            return .whole(stream.content, DecodedLayer(name, stream, codedSize: bytes.count))
        }
        self.inflater.restart(format: format, limits: limits)
        return try self.attempt(wire, name, self.inflater)
    }

    private func attempt(_ wire: ByteSource, _ name: ContentEncoding.Name, _ decoder: some CodingDecoder) throws -> Attempt {
        var content: [UInt8] = []
        if wire.size < WireBodyDecoder.memoryLimit / 8 { content.reserveCapacity(wire.size * 4) }
        try wire.forEachPiece(while: { decoder.push($0) { content.append(contentsOf: $0) } == .needsMore })
        let status = decoder.finish()
        let layer = DecodedLayer(name, decoder, leftOver: wire.size - decoder.consumed)
        switch status {
        case .failed(let problem) where problem.kind == .tooLong: return .large(content, layer.format)
        case .failed(let problem): return .failed(problem)
        case .ended, .needsMore: return layer.problem.map { .failed($0) } ?? .whole(content, layer)
        }
    }
}
