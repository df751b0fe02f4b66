internal import TapeCore

/// Hands an export the bodies that lie beside the cassette.
struct CassetteBodySource: HARBodySource {
    private let reader: BodyReader

    init(path: String) {
        self.reader = BodyReader(cassettePath: path)
    }

    func read(_ body: Body, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        let source = try BodyRestorer.decoded(
            of: body, file: { try self.reader.source($0, digest: PortableSHA256()) }, raw: { OctetSource(try self.reader.read($0)) })
        try source.forEachPiece(deliver)
    }
}
