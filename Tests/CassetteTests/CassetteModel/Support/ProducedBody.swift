import Foundation
import Testing

@testable import CassetteFormat
@testable import CassetteModel
@testable import TapeBytes

/// A multipart body as a program wrote it, with its Content-Type.
struct ProducedBody: Codable {
    var name: String
    var type: String
    var body: Data

    /// A part as every reader reports it.
    struct Part: Codable, Equatable {
        var name: String?
        var filename: String?
        var data: Data
    }

    var bytes: [UInt8] { Array(self.body) }

    /// The parts in a cassette, and its text; they restore the bytes.
    func recorded() throws -> (body: MultipartBody<PartContent>, text: String) {
        var decoder = WireBodyDecoder(makeDigest: { TestDigest() })
        var sink = MemorySink()
        let headers = HeaderFields(["Content-Type: \(self.type)"])
        let decoded = try decoder.decode(self.bytes, headers: headers, origin: "", sink: &sink)
        let request = RecordedRequest(method: "POST", url: "http://a/", headers: headers, body: decoded)
        var writer = JSONWriter()
        InteractionEncoder.encode(Interaction(id: 1, started: Timestamp(microseconds: 0), request: request), into: &writer)
        let read = try #require(try InteractionDecoder.decode(writer.bytes, at: .textAlone).request.body)
        #expect(read == decoded)
        let restored = try BodyRestorer.wireBytes(of: read, file: sink.read, raw: { _ in [] }, digest: TestDigest())
        #expect(restored == BodyRestorer.Restored(bytes: self.bytes, isEdited: false))
        guard case .multipart(let body) = read.content else { throw CassetteError(.damaged, "no parts") }
        return (body, String(decoding: writer.bytes, as: UTF8.self))
    }

    /// The parts as our reader finds them, or nil if it finds no multipart body.
    var parts: [Part]? {
        let bytes = self.bytes
        guard let boundary = MultipartType(Array(self.type.utf8))?.boundary,
            let body = bytes.withUnsafeBytes({ MultipartBody.parse($0, boundary: boundary) })
        else { return nil }
        return body.parts.map { part in
            let disposition = ContentDisposition(part.headers.fields)
            guard case .data(let range) = part.content else { return Part(data: Data()) }
            return Part(name: disposition?.name, filename: disposition?.filename, data: Data(bytes[range]))
        }
    }
}
