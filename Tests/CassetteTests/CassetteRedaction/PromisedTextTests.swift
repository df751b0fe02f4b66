import CassetteModel
import TapeTestSupport
import Testing

@testable import CassetteRedaction

/// Bodies whose media type promises a text, and whose bytes are something else.
@Suite struct PromisedTextTests {
    private func redacted(_ bytes: [UInt8], _ type: String) -> (notes: [String], bytes: [UInt8]) {
        var response = RecordedResponse(status: 200, headers: HeaderFields(["Content-Type: \(type)"]))
        var body: WireBody? = WireBody(bytes)
        let outcome = Redactor().redact(response: &response, body: &body)
        return (outcome.notes, body?.bytes ?? [])
    }

    private static let noise: [UInt8] = {
        var random = SeededGenerator(seed: 3)
        return [0xC3, 0x01] + (0..<300).map { _ in UInt8.random(in: 0...255, using: &random) }
    }()

    @Test(arguments: [
        "application/json", "application/problem+json", "text/plain", "text/html; charset=utf-8", "application/xml", "image/svg+xml",
        "application/x-www-form-urlencoded", "application/x-amz-json-1.1",
    ])
    func unknownBytesAreReported(type: String) {
        let notes = self.redacted(Self.noise, type).notes
        let name = type.split(separator: ";").first.map(String.init) ?? ""
        #expect(notes == ["not searched for secrets inside bytes that are not the text that \"\(name)\" promises"])
        var exchanges = UnsearchedExchanges()
        exchanges.add(1, notes: notes)
        #expect(exchanges.count == 1)
    }

    /// Texts in other charsets, texts with a few control characters, wide texts, images, and bytes without a promise.
    @Test func otherBytesAreNot() {
        let bodies: [([UInt8], String)] = [
            (Array("{\"a\":\"".utf8) + [0xE9, 0xE8] + Array("\"}".utf8), "application/json"),
            ([0xBA, 0xF1, 0xB9, 0xD0, 0xB9, 0xF8, 0xC8, 0xA3], "text/plain"),
            (Array("CONNECT\nlogin:a\n\n\0 and some text\u{1}\u{2}".utf8), "text/plain"),
            (Array("\u{1E}{\"a\":1}\n\u{1E}{\"a\":2}\n".utf8), "application/json-seq"),
            ([0xFF, 0xFE] + "{\"a\": \"text of a page\"}".utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }, "application/json"),
            ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + Self.noise, "text/plain"), (Self.noise, "application/octet-stream"),
            (Self.noise, "image/png"),
        ]
        for (bytes, type) in bodies { #expect(self.redacted(bytes, type).notes == [], "\(type) \(bytes.prefix(8))") }
    }

    /// `{"user": "ada", "password": "h7nter2Xq"}`
    @Test func messagePackUnderATextTypeIsRead() {
        let bytes: [UInt8] =
            [0x82, 0xA4] + Array("user".utf8) + [0xA3] + Array("ada".utf8) + [0xA8] + Array("password".utf8) + [0xA9]
            + Array("h7nter2Xq".utf8)
        for type in ["application/json", "text/plain"] {
            let (notes, redacted) = self.redacted(bytes, type)
            #expect(notes == [] && redacted == bytes.dropLast(10) + [0xAE] + Array("{{password:1}}".utf8), "\(type)")
        }
    }

    #if CODINGS
    /// `{"user":"ada","password":"h7nter2Xq","user2":"bob","password2":"h7nter2Xq"}`, compressed by brotli at its best.
    private static let brotli: [UInt8] = [
        0x1B, 0x4A, 0x00, 0x60, 0x2D, 0x8F, 0xB7, 0x49, 0xE0, 0x15, 0x46, 0x48, 0x65, 0xA3, 0x23, 0xC1, 0xF9, 0x4B, 0xB2, 0xB8, 0xBD, 0x0C,
        0x13, 0x43, 0x4B, 0x16, 0x9D, 0xBE, 0x16, 0x11, 0x93, 0xA3, 0x5B, 0x58, 0x6E, 0x75, 0xF3, 0xD6, 0x32, 0x22, 0x61, 0x65, 0x61, 0x03,
        0x0E, 0x44, 0x43, 0x7D, 0x1C, 0x61, 0x9F, 0xF9, 0x2C, 0x80, 0x46, 0xD9, 0xA0, 0x0B, 0xC3, 0xED, 0x94, 0xFD, 0x47, 0x44, 0xC1, 0xB6,
        0x78,
    ]

    @Test func brotliWithoutItsFieldIsRead() {
        let (notes, redacted) = self.redacted(Self.brotli, "application/json")
        #expect(notes == [])
        // The coding is applied again without compression.
        let text = String(decoding: redacted, as: UTF8.self)
        #expect(text.contains(#"{"user":"ada","password":"{{password:1}}","user2""#) && !text.contains("h7nter2Xq"), "\(text)")
    }
    #endif
}
