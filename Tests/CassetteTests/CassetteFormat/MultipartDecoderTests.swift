@testable import CassetteFormat
@testable import CassetteModel
@testable import TapeBytes
import Testing

@Suite struct MultipartDecoderTests {
    private func body(_ multipart: String, type: String = "multipart/form-data; boundary=X") throws -> MultipartBody<PartContent> {
        let interaction = try decodeInteraction(
            #"{ "id": 1, "started": "2026-11-21T04:19:28Z", "request": { "method": "POST", "url": "http://a/", "headers": ["Content-Type: \#(type)"], "body": { "multipart": \#(multipart) } } }"#
        )
        guard case .multipart(let body)? = interaction.request.body?.content else { throw CassetteError(.damaged, "no parts") }
        #expect(interaction.request.body?.size == body.size)
        return body
    }

    private func bytes(_ multipart: String) throws -> String {
        String(decoding: try self.body(multipart).source { _ in ByteSource([]) }.load(), as: UTF8.self)
    }

    @Test func handwrittenPartsGetTheUsualLayout() throws {
        #expect(
            try self.bytes(#"[{ "headers": ["A: b"], "text": "음식" }, { "json": { "a": 1 } }]"#)
                == "--X\r\nA: b\r\n\r\n음식\r\n--X\r\n\r\n{\"a\":1}\r\n--X--\r\n")
        #expect(try self.bytes("[]") == "--X--\r\n")
    }

    @Test func deviationsAreTaken() throws {
        let text = #"""
            { "boundary": "Y", "preamble": "pre", "epilogue": "epi", "closing": { "before": "\n", "padding": "\t" },
              "parts": [{ "delimiter": { "after": "\n" }, "head": "A: b\n\n", "text": "a" }] }
            """#
        #expect(try self.bytes(text) == "pre\r\n--Y\nA: b\n\na\n--Y--\t\r\nepi")
        #expect(try self.bytes(#"{ "parts": [{ "text": "a" }], "closing": null }"#) == "--X\r\n\r\na")
    }

    @Test func partsHavePartsOfTheirOwn() throws {
        let text = #"[{ "headers": ["Content-Type: multipart/mixed; boundary=Y"], "multipart": [{ "text": "a" }] }]"#
        #expect(
            try self.bytes(text)
                == "--X\r\nContent-Type: multipart/mixed; boundary=Y\r\n\r\n--Y\r\n\r\na\r\n--Y--\r\n\r\n--X--\r\n")
    }

    @Test func filesAreNamedWithTheirSizes() throws {
        let digest = String(repeating: "0a", count: 32)
        let body = try self.body(#"[{ "file": "a.bodies/\#(digest).png", "size": 70000 }]"#)
        #expect(body.parts[0].content == .data(.file(Sidecar(path: "a.bodies/\(digest).png", size: 70_000, sha256: digest))))
    }

    @Test(arguments: [
        #"[{}]"#, #"[{ "text": "", "json": 1 }]"#, #"[{ "head": "", "headers": [], "text": "" }]"#,
        #"[{ "headers": ["a\r\nb"], "text": "" }]"#,
        #"[{ "headers": [""], "text": "" }]"#, #"[{ "file": "a.bodies/b" }]"#, #"[{ "file": "../b", "size": 1 }]"#,
        #"[{ "text": "", "mood": 1 }]"#, #"{ "parts": 1 }"#, #"{}"#, #"{ "boundary": "", "parts": [] }"#,
        #"{ "parts": [], "closing": { "after": "\r" } }"#, #"[{ "text": "", "delimiter": { "padding": "x" } }]"#, #"[{ "raw": 1 }]"#, "1",
    ])
    func invalidMultipartIsRefused(_ multipart: String) {
        #expect(throws: CassetteError.self) { try self.body(multipart) }
    }

    @Test func endlessNestingIsRefused() {
        var text = "[]"
        for _ in 0..<9 { text = #"[{ "headers": ["Content-Type: multipart/mixed; boundary=X"], "multipart": \#(text) }]"# }
        #expect(throws: CassetteError.self) { try self.body(text) }
    }
}

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
    ]) func invalidTransferEncodingIsRefused(_ transfer: String) {
        #expect(throws: CassetteError.self) { try self.part("\"text\": \"a\", \"transfer\": \(transfer)") }
    }

    @Test func onlyContentInTheCassetteIsEncoded() {
        #expect(throws: CassetteError.self) { try self.part(#""transfer": { "base64": {} }, "file": "a.bodies/b", "size": 1"#) }
        #expect(throws: CassetteError.self) { try self.part(#""transfer": { "base64": {} }, "multipart": []"#) }
    }
}
