internal import CassetteFormat
package import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// Provides an export with the bodies, including those in files next to the cassette.
package struct CassetteBodySource: HARBodySource {
    private let reader: BodyReader

    package init(path: String) {
        self.reader = BodyReader(cassettePath: path)
    }

    package func read(_ body: Body, headers: HeaderFields, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        let source = try BodyRestorer.decoded(
            of: body, file: { try self.reader.source($0, digest: PortableSHA256()) }, raw: { ByteSource(try self.reader.read($0)) })
        // A damaged body is exported in coded form: half of its content could be mistaken for the whole.
        guard body.isUndecoded(headers), case .coded(let names) = ContentEncoding(headers), body.codings.isEmpty,
            try Self.decode(source, names, { _ in })
        else { return try source.forEachPiece(deliver) }
        _ = try Self.decode(source, names, deliver)
    }

    package func readMessages(_ messages: WebSocketMessages, _ deliver: (WebSocketMessage) throws -> Void) throws {
        try self.reader.forEachMessage(of: messages, digest: PortableSHA256()) { message, _ in
            try deliver(message)
            return true
        }
    }

    /// - Returns: whether all codings were decoded to the end.
    private static func decode(
        _ source: ByteSource, _ names: [ContentEncoding.Name], _ deliver: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Bool {
        guard let chain = DecoderChain(names, limits: .file(codedSize: source.size)) else { return false }
        try source.forEachPiece(while: { try chain.push($0, deliver: deliver) })
        return chain.finish()
    }
}
