internal import CassetteFormat
internal import CassetteModel
internal import CassettePlayback
internal import CassetteRedaction
internal import CassetteStore
internal import TapeBytes

/// The way of a body into a cassette and back: whatever its bytes and whatever its fields claim, it comes out as it went in.
///
/// An input is a byte for the Content-Type, one for the Content-Encoding, and the wire bytes.
package enum BodyTarget: FuzzTarget {
    /// Sidecars, by path.
    private struct MemorySink: SidecarSink {
        var files: [String: [UInt8]] = [:]

        mutating func store(
            fileExtension: String, _ write: (_ piece: (UnsafeRawBufferPointer) throws -> Void) throws -> Void
        ) throws -> Sidecar {
            var bytes: [UInt8] = []
            try write { bytes.append(contentsOf: $0) }
            let sha256 = String(repeating: "0", count: 64)
            let path = "tape.bodies/\(self.files.count)\(fileExtension.isEmpty ? "" : "." + fileExtension)"
            self.files[path] = bytes
            return Sidecar(path: path, size: bytes.count, sha256: sha256)
        }
    }

    private static let types = [
        "application/json", "text/plain", "text/html; charset=utf-8", "application/x-www-form-urlencoded", "application/octet-stream",
        "multipart/form-data; boundary=b", "multipart/mixed; boundary=\"b\"", "text/event-stream", "application/x-ndjson",
        "text/plain; charset=utf-16", "text/plain; charset=euc-kr", "text/plain; charset=iso-8859-1", "image/png", "",
        "application/grpc", "application/grpc+json", "application/grpc+x",
    ]
    private static let encodings = ["", "", "gzip", "deflate", "br", "zstd", "gzip, gzip", "identity", "deflate, gzip"]

    package static func run(_ input: UnsafeRawBufferPointer) throws {
        guard input.count > 2 else { return }
        let wire = Array(input[2...])
        let (type, encoding) = (self.types[Int(input[0]) % self.types.count], self.encodings[Int(input[1]) % self.encodings.count])
        var headers = HeaderFields()
        if !type.isEmpty { headers.append(name: "Content-Type", value: type) }
        // Messages of gRPC have codings of their own.
        let field = type.hasPrefix("application/grpc") ? "grpc-encoding" : "Content-Encoding"
        if !encoding.isEmpty { headers.append(name: field, value: encoding) }
        try self.comesBack(wire, headers)
    }

    private static func comesBack(_ wire: [UInt8], _ headers: HeaderFields) throws {
        var sink = MemorySink()
        var decoder = WireBodyDecoder(makeDigest: { PortableSHA256() })
        let body = try decoder.decode(wire, headers: headers, origin: "origin.test:80", sink: &sink)
        guard let started = Timestamp("2026-11-21T04:19:28.123456Z") else { return }
        let interaction = Interaction(
            id: 1, started: started,
            request: RecordedRequest(method: "POST", url: "http://origin.test/", version: .http11, headers: headers, body: body))
        var writer = JSONWriter()
        InteractionEncoder.encode(interaction, into: &writer)
        let read = try InteractionDecoder.decode(writer.bytes, at: .textAlone)
        try self.expect(read == interaction, "another interaction was read than written")
        guard let readBody = read.request.body else { throw FuzzFinding("the body is not in the cassette") }
        let restored = try BodyRestorer.wireBytes(
            of: readBody, file: { sink.files[$0.path] ?? [] }, raw: { _ in [] }, digest: PortableSHA256())
        try self.expect(restored.bytes == wire && !restored.isEdited, "the body came back otherwise")
        _ = try BodyRestorer.decodedBytes(of: readBody, file: { sink.files[$0.path] ?? [] }, raw: { _ in [] })
    }
}
