import CassetteModel
import TapeBytes

@testable import CassetteTools
@testable import WiretapeCLI

/// Multipart bodies as the tests of views need them.
enum FormFixtures {
    static let boundary = "----wiretape"
    static let headers = HeaderFields(["Content-Type: multipart/form-data; boundary=\(boundary)"])

    /// A PNG's first bytes, which say 3 × 2.
    static let png: [UInt8] =
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8) + [0, 0, 0, 3, 0, 0, 0, 2, 8, 2, 0, 0, 0]

    static func body(_ parts: [(head: [String], data: [UInt8])], boundary: String = Self.boundary) -> [UInt8] {
        var bytes: [UInt8] = []
        for part in parts {
            bytes += Array("--\(boundary)\r\n".utf8) + part.head.flatMap { Array("\($0)\r\n".utf8) } + Array("\r\n".utf8) + part.data
            bytes += Array("\r\n".utf8)
        }
        return bytes + Array("--\(boundary)--\r\n".utf8)
    }

    /// A field, JSON, a file with a name from elsewhere, and a field in base64.
    static let pets = body([
        (["Content-Disposition: form-data; name=\"title\""], Array("이름".utf8)),
        (["Content-Disposition: form-data; name=\"meta\"", "Content-Type: application/json"], Array(#"{"kind":"cat"}"#.utf8)),
        (["Content-Disposition: form-data; name=\"avatar\"; filename=\"../../a b.png\"", "Content-Type: image/png"], png),
        (["Content-Disposition: form-data; name=\"note\"", "Content-Transfer-Encoding: base64"], Array("aGVsbG8=".utf8)),
    ])

    /// One part with a part of its own in it.
    static var nested: [UInt8] {
        let inner = self.body([(["Content-Type: text/plain"], Array("deep".utf8))], boundary: "inner")
        return self.body([
            (["Content-Disposition: form-data; name=\"files\"", "Content-Type: multipart/mixed; boundary=inner"], inner),
            (["Content-Disposition: form-data; name=\"last\""], Array("x".utf8)),
        ])
    }

    static func parts(_ bytes: [UInt8], _ headers: HeaderFields = Self.headers) throws -> BodyParts? {
        try BodyParts(BodyContents(bytes), headers: headers)
    }

    /// A request that sends such a body.
    static func upload(_ bytes: [UInt8], headers: HeaderFields = Self.headers) -> Interaction {
        var interaction = Interaction.sample(1, "POST", "http://a/pets", status: 201)
        interaction.request.headers = HeaderFields(["Host: a"] + headers.lines)
        interaction.request.body = Body(size: bytes.count, content: .binary(bytes))
        return interaction
    }
}

/// A recorded upload's JSON text, as it stands in a cassette.
func uploadText(_ bytes: [UInt8], id: Int = 1) -> String {
    var writer = JSONWriter()
    bytes.withUnsafeBytes { writer.base64($0) }
    let base64 = String(decoding: writer.bytes, as: UTF8.self)
    return """
        { "id": \(id), "started": "2026-11-21T04:19:00Z", "request": { "method": "POST", "url": "http://a/pets",
          "headers": ["Host: a", "Content-Type: multipart/form-data; boundary=\(FormFixtures.boundary)"],
          "body": { "size": \(bytes.count), "base64": \(base64) } },
          "response": { "status": 201, "headers": [] } }
        """
}
