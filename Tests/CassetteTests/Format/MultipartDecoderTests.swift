import Testing

@testable import CassetteModel

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

    @Test func whatIsWrittenByHandIsUsual() throws {
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
    func whatBreaksTheFormatIsRefused(_ multipart: String) {
        #expect(throws: CassetteError.self) { try self.body(multipart) }
    }

    @Test func endlessNestingIsRefused() {
        var text = "[]"
        for _ in 0..<9 { text = #"[{ "headers": ["Content-Type: multipart/mixed; boundary=X"], "multipart": \#(text) }]"# }
        #expect(throws: CassetteError.self) { try self.body(text) }
    }
}
