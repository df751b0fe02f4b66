import TapeTestSupport
import Testing

@testable import CassetteFormat
@testable import CassetteModel
@testable import TapeBytes

/// A cassette restores any body under any Content-Type byte for byte.
struct AnyBodyTests {
    private static let types = [
        "", "text/plain", "text/plain; charset=euc-kr", "text/plain; charset=utf-16", "text/html; charset=shift_jis",
        "text/plain; charset=windows-1255",
        "application/json", "application/x-ndjson", "application/x-www-form-urlencoded", "text/event-stream", "image/png",
        "application/octet-stream",
        "multipart/form-data; boundary=X", "multipart/mixed; boundary=\"X\"", "multipart/related; boundary=X, multipart/mixed; boundary=Y",
        "multipart/byteranges", "multipart/x-mixed-replace;boundary=X", "nonsense", "; charset=", "multipart/form-data; boundary=\"\"",
    ]

    private static let heads = [
        "", "Content-Type: application/json\r\n", "Content-Transfer-Encoding: base64\r\n",
        "Content-Transfer-Encoding: quoted-printable\r\n",
        "Content-Type: text/plain; charset=euc-kr\r\nContent-Transfer-Encoding: base64\r\n",
        "Content-Type: multipart/mixed; boundary=Y\r\n",
        "Content-Type: application/x-www-form-urlencoded\r\n", "Content-Disposition: form-data; name=\"_charset_\"\r\n", "A: b\n",
        "no colon",
        "Content-Type: application/json\r\nContent-Transfer-Encoding: quoted-printable\r\n", "Content-Type: text/event-stream\r\n",
    ]

    private static let words = [
        "\r\n", "\n", "\r", "--X", "--X--", "--Y", "--Y--", "--", " ", "\t", "=", "=\r\n", "=3D", "=20", "=41", "=ec=9d=8c", "a", "W10=",
        "W10", "YWJj", "음", "{", "}", "[]",
        "{\"a\": 1}", "{\"a\":1,\"a\":1.0e5}", "\"", "data: ", "data: {}\n\n", "&", "%20", "+", "%", "EUC-KR", "\u{FEFF}", "\0", "\\",
        "\u{7F}", "\u{2028}",
    ]

    private static let documents = [
        "{\"a\": 1}", "[1,2]\n", "{\"a\":1}\n{\"b\":[]}\n", "{}\r\n[]", "{\"a\":\"\\u00e9\"}", "a=1&b=%20", "a+b=c",
        "data: {\"a\": 1}\n\ndata: x\n\n",
    ]

    private func data(using generator: inout SeededGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 0...12, using: &generator) {
            switch Int.random(in: 0..<12, using: &generator) {
            case 0: bytes.append(UInt8.random(in: 0...255, using: &generator))
            case 1: bytes += [0xC0, 0xBD]
            case 2 where bytes.count < 200: bytes += Array(repeating: UInt8.random(in: 32...126, using: &generator), count: 80)
            default: bytes += Array((Self.words.randomElement(using: &generator) ?? "").utf8)
            }
        }
        return bytes
    }

    /// Mostly parts, each with content created for the encoding that it names.
    private func body(using generator: inout SeededGenerator) -> [UInt8] {
        if Int.random(in: 0..<4, using: &generator) == 0 { return Array((Self.documents.randomElement(using: &generator) ?? "").utf8) }
        guard Int.random(in: 0..<3, using: &generator) > 0 else { return self.data(using: &generator) }
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 0...4, using: &generator) {
            let head = Self.heads.randomElement(using: &generator) ?? ""
            var data = self.data(using: &generator)
            if Bool.random(using: &generator) {
                let lineEnd = Bool.random(using: &generator) ? LineEnd.lineFeed : .carriageReturnLineFeed
                if head.contains("base64") {
                    data = Base64Spelling(line: [0, 4, 76].randomElement(using: &generator) ?? 0, lineEnd: lineEnd).write(data)
                } else if head.contains("quoted") {
                    data = QuotedPrintableSpelling(line: [0, 20, 76].randomElement(using: &generator) ?? 0, lineEnd: lineEnd).write(data)
                }
            }
            bytes += Array("--X\r\n\(head)\r\n".utf8) + data + Array("\r\n".utf8)
        }
        bytes += Array("--X--\r\n".utf8)
        return Bool.random(using: &generator) ? bytes : MultipartFixture.mutated(bytes, using: &generator)
    }

    private func expectBack(
        _ bytes: [UInt8], _ headers: HeaderFields, _ decoder: inout WireBodyDecoder, _ counts: inout [String: Int]
    ) throws {
        var sink = MemorySink()
        let body = try decoder.decode(bytes, headers: headers, origin: "a:80", sink: &sink)
        let request = RecordedRequest(method: "POST", url: "http://a/", headers: headers, body: body)
        var writer = JSONWriter()
        InteractionEncoder.encode(Interaction(id: 1, started: Timestamp(microseconds: 0), request: request), into: &writer)
        let read = try #require(try InteractionDecoder.decode(writer.bytes, at: .textAlone).request.body)
        #expect(read == body)
        let restored = try BodyRestorer.wireBytes(of: read, file: sink.read, raw: { _ in [] }, digest: TestDigest())
        #expect(restored == BodyRestorer.Restored(bytes: bytes, isEdited: false), "\(String(decoding: writer.bytes, as: UTF8.self))")
        let text = String(decoding: writer.bytes, as: UTF8.self)
        for member in ["transfer", "multipart", "charset", "json", "form", "lines", "events", "base64", "file", "codings"] {
            if text.contains("\"\(member)\": ") { counts[member, default: 0] += 1 }
        }
    }

    @Test func everyBodyComesBack() throws {
        var generator = SeededGenerator(seed: 44)
        var decoder = WireBodyDecoder(makeDigest: { TestDigest() })
        var counts: [String: Int] = [:]
        for round in 0..<rounds(6_000) {
            let type = Self.types.randomElement(using: &generator) ?? ""
            var bytes = self.body(using: &generator)
            // More than a cassette keeps inline.
            if round % 100 == 0 { bytes = Array(repeatElement(bytes, count: 1 + 70_000 / max(bytes.count, 1)).joined()) }
            var lines = type.isEmpty ? [] : ["Content-Type: \(type)"]
            if round % 10 == 1 {
                lines.append("Content-Encoding: deflate")
                if round % 20 == 1 { bytes = CodingFixtures.deflated(bytes, DeflateParameters(level: 6), .zlib) }
            }
            try self.expectBack(bytes, HeaderFields(lines), &decoder, &counts)
        }
        for member in ["transfer", "multipart", "charset", "json", "form", "lines", "events", "base64", "file", "codings"] {
            #expect(counts[member, default: 0] >= rounds(15), "\(member): \(counts)")
        }
    }
}
