/// Turns the wire octets of a body into the most readable form that gives them back exactly.
///
/// Holds at most a few times `memoryLimit`, whatever the body's size and whatever its codings hide. Trusts neither header fields nor
/// octets: a body that is not what its fields claim is kept as it came, with a note. Used by one thread.
public struct BodyDeveloper: ~Copyable {
    /// Wire or decoded octets that are held in memory; what is longer passes through in pieces. Far above the limits of `ContentForm`,
    /// since the search for parameters is quicker in memory.
    public static let memoryLimit = 1 << 20

    private enum Decoding {
        case whole([UInt8], DeflateFormat)
        /// Longer than `memoryLimit`; its beginning.
        case large([UInt8], DeflateFormat)
        case failed(InflateProblem)
    }

    private struct Undecodable: Error {
        var problem: InflateProblem
    }

    private let makeDigest: () -> any ContentDigest
    private var inflater = Inflater(format: .gzip)
    private var restorer = DeflateRestorer()
    private var memo = DevelopedMemo()

    /// `makeDigest` makes a SHA-256.
    public init(makeDigest: @escaping () -> any ContentDigest) {
        self.makeDigest = makeDigest
    }

    /// A body that is left for later: its wire octets lie in the raw spool.
    public static func undeveloped(_ slice: RawSlice, isComplete: Bool = true) -> Body {
        Body(size: slice.size, isComplete: isComplete, content: slice.size == 0 ? .empty : .raw(slice))
    }

    /// Octets in memory. `origin` names the server whose compressor is remembered: `host:port`.
    public mutating func develop(
        _ wire: [UInt8], headers: HeaderFields, origin: String, isComplete: Bool = true, sink: inout some SidecarSink
    ) throws -> Body {
        try self.develop(OctetSource(wire), headers: headers, origin: origin, isComplete: isComplete, sink: &sink)
    }

    /// Octets that may be too many for memory. Throws only what the source and the sink throw.
    public mutating func develop(
        _ source: OctetSource, headers: HeaderFields, origin: String, isComplete: Bool = true, sink: inout some SidecarSink
    ) throws -> Body {
        guard source.size > 0 else { return Body(size: 0, isComplete: isComplete, content: .empty) }
        let wire = source.memory == nil && source.size <= Self.memoryLimit ? OctetSource(try source.load()) : source
        let type = MediaType(headers.firstIndex(of: "content-type").map(headers.valueBytes))
        let encoding = ContentEncoding(headers)
        var body =
            switch encoding {
            case .none: try self.plain(wire, ContentForm(type: type), &sink)
            case .gzip, .deflate: try self.coded(wire, encoding, type, origin, &sink)
            case .other(let names): try self.plain(wire, encoding, type, note: "content coding \"\(names)\" is not taken off", &sink)
            }
        body.isComplete = isComplete
        return body
    }

    /// Develops a body that was left for later; what is known of its arrival stays.
    public mutating func develop(
        _ undeveloped: Body, from source: OctetSource, headers: HeaderFields, origin: String, sink: inout some SidecarSink
    ) throws -> Body {
        var body = try self.develop(source, headers: headers, origin: origin, isComplete: undeveloped.isComplete, sink: &sink)
        body.arrival = undeveloped.arrival
        body.unknown = undeveloped.unknown
        return body
    }

    private func plain(
        _ wire: OctetSource, _ encoding: ContentEncoding, _ type: MediaType, note: String, _ sink: inout some SidecarSink
    ) throws -> Body {
        var body = try self.plain(wire, ContentForm(type: type, codedExtension: encoding.fileExtension), &sink)
        body.note = note
        return body
    }

    private func plain(_ wire: OctetSource, _ form: ContentForm, _ sink: inout some SidecarSink) throws -> Body {
        if let octets = wire.memory { return Body(size: wire.size, content: try form.content(octets, sink: &sink)) }
        var prefix = [UInt8](repeating: 0, count: min(wire.size, OctetSource.pieceSize))
        try prefix.withUnsafeMutableBytes { try wire.read(at: 0, into: $0) }
        let fileExtension = prefix.withUnsafeBytes(form.fileExtension(prefix:))
        return Body(size: wire.size, content: .file(try sink.store(fileExtension: fileExtension) { try wire.forEachPiece($0) }))
    }

    private mutating func coded(
        _ wire: OctetSource, _ encoding: ContentEncoding, _ type: MediaType, _ origin: String, _ sink: inout some SidecarSink
    ) throws -> Body {
        let key = DevelopedMemo.Key(identity: try self.digest(wire), encoding: encoding, type: type)
        if let known = self.memo[key] { return known }
        var body: Body
        do {
            switch try self.decode(wire, encoding) {
            case .failed(let problem): throw Undecodable(problem: problem)
            case .whole(let content, let format):
                body = try self.restorable(wire, content, format, type, origin, key.identity, &sink)
            case .large(let beginning, let format):
                body = try self.restorable(wire, beginningWith: beginning, format, type, origin, key.identity, &sink)
            }
        } catch let error as Undecodable {
            body = try self.plain(wire, encoding, type, note: "content coding is not taken off: \(error.problem)", &sink)
        }
        self.memo.remember(body, for: key)
        return body
    }

    private func digest(_ wire: OctetSource) throws -> [UInt8] {
        var digest = self.makeDigest()
        try wire.forEachPiece { digest.update($0) }
        return digest.finalize()
    }

    // MARK: Taking the coding off

    private mutating func decode(_ wire: OctetSource, _ encoding: ContentEncoding) throws -> Decoding {
        guard encoding == .deflate else { return try self.decode(wire, as: .gzip) }
        // RFC 9110, 8.4.1.2: some send the raw format. Two octets can look like zlib's by chance, so both are tried.
        let zlib = try self.decode(wire, as: .zlib)
        guard case .failed(let zlibProblem) = zlib else { return zlib }
        let raw = try self.decode(wire, as: .raw)
        guard case .failed = raw else { return raw }
        // Behind the first two octets zlib's header was right, and so zlib's problem tells more.
        return zlibProblem.offset > 2 ? zlib : raw
    }

    private mutating func decode(_ wire: OctetSource, as format: DeflateFormat) throws -> Decoding {
        var content: [UInt8] = []
        if wire.size < Self.memoryLimit / 8 { content.reserveCapacity(wire.size * 4) }
        // Reaching this limit is no failure: the content then passes in pieces, under the limits of a file.
        let limits = InflateLimits(output: Self.memoryLimit)
        switch try self.inflate(wire, format, limits, { content.append(contentsOf: $0) }) {
        case nil: return .whole(content, format)
        case .some(let problem) where problem.kind == .tooLong: return .large(content, format)
        case .some(let problem): return .failed(problem)
        }
    }

    /// Inflates all of a body; nil when it is one whole stream and nothing else.
    private mutating func inflate(
        _ wire: OctetSource, _ format: DeflateFormat, _ limits: InflateLimits, _ deliver: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> InflateProblem? {
        self.inflater.restart(format: format, limits: limits)
        try wire.forEachPiece(while: { try self.inflater.push($0, deliver: deliver) == .needsMore })
        if case .failed(let problem) = self.inflater.finish() { return problem }
        let rest = wire.size - self.inflater.consumed
        guard rest > 0 else { return nil }
        return InflateProblem(.corrupt, offset: self.inflater.consumed, reason: "\(rest) octets follow the \(format) stream")
    }

    // MARK: Proving that it can be put back on

    private mutating func restorable(
        _ wire: OctetSource, _ content: [UInt8], _ format: DeflateFormat, _ type: MediaType, _ origin: String, _ identity: [UInt8],
        _ sink: inout some SidecarSink
    ) throws -> Body {
        let header = self.inflater.header
        let octets = try wire.load()
        let parameters = octets.withUnsafeBytes { wire in
            content.withUnsafeBytes { content in
                self.restorer.parameters(
                    producing: wire, from: content, format: format, header: header, origin: origin, identity: identity)
            }
        }
        let form = try ContentForm(type: type).content(content, sink: &sink)
        return try self.body(wire, form, format, parameters, header, identity, &sink)
    }

    private mutating func restorable(
        _ wire: OctetSource, beginningWith beginning: [UInt8], _ format: DeflateFormat, _ type: MediaType, _ origin: String,
        _ identity: [UInt8], _ sink: inout some SidecarSink
    ) throws -> Body {
        let fileExtension = beginning.withUnsafeBytes(ContentForm(type: type).fileExtension(prefix:))
        let file = try sink.store(fileExtension: fileExtension) { write in
            if let problem = try self.inflate(wire, format, .file(codedSize: wire.size), write) { throw Undecodable(problem: problem) }
        }
        let header = self.inflater.header
        let parameters = try self.restorer.parameters(
            producing: wire, contentSize: file.size, format: format, header: header, origin: origin, identity: identity)
        return try self.body(wire, .file(file), format, parameters, header, identity, &sink)
    }

    private func body(
        _ wire: OctetSource, _ content: BodyContent, _ format: DeflateFormat, _ parameters: DeflateParameters?, _ header: GzipHeader?,
        _ identity: [UInt8], _ sink: inout some SidecarSink
    ) throws -> Body {
        let coding: ContentCoding =
            switch format {
            case .gzip: .gzip(parameters, header: header ?? .plain)
            case .zlib: .deflate(parameters)
            case .raw: .rawDeflate(parameters)
            }
        var body = Body(size: wire.size, codings: [coding], content: content, sha256: Hex.encode(identity))
        if parameters == nil { body.original = try sink.store(fileExtension: format.fileExtension) { try wire.forEachPiece($0) } }
        return body
    }
}

extension BodyDeveloper {
    /// The extension of a file that holds wire octets as they came, judged by the header fields and the first octets.
    public static func fileExtension(headers: HeaderFields, beginning: [UInt8]) -> String {
        let type = MediaType(headers.firstIndex(of: "content-type").map(headers.valueBytes))
        let form = ContentForm(type: type, codedExtension: ContentEncoding(headers).fileExtension)
        return beginning.withUnsafeBytes { form.fileExtension(prefix: $0) }
    }
}
