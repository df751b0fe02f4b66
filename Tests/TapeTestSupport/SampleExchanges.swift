package import CassetteModel
package import CassetteTools
internal import TapeBytes

extension Interaction {
    /// An exchange that started this many milliseconds after noon of a certain day.
    package static func sample(
        _ id: Int = 1, at milliseconds: Int64 = 0, _ method: String = "GET", _ url: String = "http://a/pets", status: Int? = 200,
        type: String? = "application/json", body: Body? = nil, outcome: Outcome = .complete, timing: Timing = Timing(total: 1.5)
    ) -> Interaction {
        let headers = HeaderFields(type.map { ["Content-Type: \($0)"] } ?? [])
        return Interaction(
            id: id, started: Timestamp(microseconds: 1_795_262_400_000_000 + milliseconds * 1000),
            request: RecordedRequest(method: method, url: url, headers: HeaderFields(["Host: a"])),
            response: status.map { RecordedResponse(status: $0, reason: Array("OK".utf8), headers: headers, body: body) }, outcome: outcome,
            timing: timing)
    }
}

/// Multipart bodies for the tests of views.
package enum FormFixtures {
    package static let boundary = "----wiretape"
    package static let headers = HeaderFields(["Content-Type: multipart/form-data; boundary=\(boundary)"])

    /// The first bytes of a PNG with the size 3 × 2.
    package static let png: [UInt8] =
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8) + [0, 0, 0, 3, 0, 0, 0, 2, 8, 2, 0, 0, 0]

    package static func body(_ parts: [(head: [String], data: [UInt8])], boundary: String = Self.boundary) -> [UInt8] {
        var bytes: [UInt8] = []
        for part in parts {
            bytes += Array("--\(boundary)\r\n".utf8) + part.head.flatMap { Array("\($0)\r\n".utf8) } + Array("\r\n".utf8) + part.data
            bytes += Array("\r\n".utf8)
        }
        return bytes + Array("--\(boundary)--\r\n".utf8)
    }

    /// A field, JSON, a file with a foreign name, and a field in base64.
    package static let pets = body([
        (["Content-Disposition: form-data; name=\"title\""], Array("이름".utf8)),
        (["Content-Disposition: form-data; name=\"meta\"", "Content-Type: application/json"], Array(#"{"kind":"cat"}"#.utf8)),
        (["Content-Disposition: form-data; name=\"avatar\"; filename=\"../../a b.png\"", "Content-Type: image/png"], png),
        (["Content-Disposition: form-data; name=\"note\"", "Content-Transfer-Encoding: base64"], Array("aGVsbG8=".utf8)),
    ])

    /// A part that contains another part.
    package static var nested: [UInt8] {
        let inner = self.body([(["Content-Type: text/plain"], Array("deep".utf8))], boundary: "inner")
        return self.body([
            (["Content-Disposition: form-data; name=\"files\"", "Content-Type: multipart/mixed; boundary=inner"], inner),
            (["Content-Disposition: form-data; name=\"last\""], Array("x".utf8)),
        ])
    }

    package static func parts(_ bytes: [UInt8], _ headers: HeaderFields = Self.headers) throws -> BodyParts? {
        try BodyParts(BodyContents(bytes), headers: headers)
    }

    /// A request that sends such a body.
    package static func upload(_ bytes: [UInt8], headers: HeaderFields = Self.headers) -> Interaction {
        var interaction = Interaction.sample(1, "POST", "http://a/pets", status: 201)
        interaction.request.headers = HeaderFields(["Host: a"] + headers.lines)
        interaction.request.body = Body(size: bytes.count, content: .binary(bytes))
        return interaction
    }
}
