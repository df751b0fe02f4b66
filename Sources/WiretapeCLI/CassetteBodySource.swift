internal import CassetteFormat
internal import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// Hands an export the bodies that lie beside the cassette.
struct CassetteBodySource: HARBodySource {
    private let reader: BodyReader

    init(path: String) {
        self.reader = BodyReader(cassettePath: path)
    }

    func read(_ body: Body, headers: HeaderFields, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        let source = try BodyRestorer.decoded(
            of: body, file: { try self.reader.source($0, digest: PortableSHA256()) }, raw: { OctetSource(try self.reader.read($0)) })
        // What breaks somewhere is handed out as it came: half of it would pass for the whole.
        guard body.isUndeveloped(headers), case .coded(let names) = ContentEncoding(headers), body.codings.isEmpty,
            try Self.decode(source, names, { _ in })
        else { return try source.forEachPiece(deliver) }
        _ = try Self.decode(source, names, deliver)
    }

    /// Answers whether the codings came off, all of them and to the end.
    private static func decode(
        _ source: OctetSource, _ names: [ContentEncoding.Name], _ deliver: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Bool {
        guard let chain = DecoderChain(names, limits: .file(codedSize: source.size)) else { return false }
        try source.forEachPiece(while: { try chain.push($0, deliver: deliver) })
        return chain.finish()
    }
}
