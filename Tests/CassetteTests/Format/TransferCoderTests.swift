import Testing

@testable import CassetteFormat
@testable import CassetteModel
@testable import TapeBytes

struct TransferCoderTests {
    private static let spellings: [(TransferSpelling, String)] = [
        (.base64(Base64Spelling()), #"{ "base64": {} }"#),
        (
            .base64(Base64Spelling(line: 64, lineEnd: .lineFeed, isEnded: true)),
            #"{ "base64": { "line": 64, "lineEnd": "\n", "ended": true } }"#
        ),
        (.quotedPrintable(QuotedPrintableSpelling()), #"{ "quoted-printable": {} }"#),
        (
            .quotedPrintable(QuotedPrintableSpelling(line: 0, lineEnd: .lineFeed, usesLowerCaseHex: true, escaped: [9, 46])),
            #"{ "quoted-printable": { "line": 0, "lineEnd": "\n", "hex": "lower", "escaped": "\t." } }"#
        ),
    ]

    private func part(_ members: String) throws -> PartContent? {
        let interaction = try decodeInteraction(
            #"{ "id": 1, "started": "2026-11-21T04:19:28Z", "request": { "method": "POST", "url": "http://a/", "headers": ["Content-Type: multipart/mixed; boundary=X"], "body": { "multipart": [{ \#(members) }] } } }"#
        )
        guard case .multipart(let body)? = interaction.request.body?.content, case .data(let content)? = body.parts.first?.content else {
            return nil
        }
        return content
    }

    @Test(arguments: Self.spellings) func spellingsAreWrittenAndRead(_ spelling: TransferSpelling, _ text: String) throws {
        var writer = JSONWriter()
        TransferCoder.write(spelling, into: &writer)
        #expect(String(decoding: writer.bytes, as: UTF8.self) == text)
        #expect(try self.part("\"text\": \"a\", \"transfer\": \(text)") == .transferEncoded(.text([97]), spelling))
    }

    @Test(arguments: [
        "1", "{}", #"{ "uuencode": {} }"#, #"{ "base64": {}, "quoted-printable": {} }"#, #"{ "base64": { "line": -1 } }"#,
        #"{ "base64": { "line": 65537 } }"#,
        #"{ "base64": { "lineEnd": "\r" } }"#, #"{ "base64": { "hex": "lower" } }"#, #"{ "quoted-printable": { "line": 3 } }"#,
        #"{ "quoted-printable": { "hex": "no" } }"#, #"{ "quoted-printable": { "escaped": "음" } }"#,
        #"{ "quoted-printable": { "escaped": "=" } }"#,
        #"{ "quoted-printable": { "ended": true } }"#,
    ]) func whatBreaksTheFormatIsRefused(_ transfer: String) {
        #expect(throws: CassetteError.self) { try self.part("\"text\": \"a\", \"transfer\": \(transfer)") }
    }

    @Test func onlyContentInTheCassetteIsEncoded() {
        #expect(throws: CassetteError.self) { try self.part(#""transfer": { "base64": {} }, "file": "a.bodies/b", "size": 1"#) }
        #expect(throws: CassetteError.self) { try self.part(#""transfer": { "base64": {} }, "multipart": []"#) }
    }
}
