import Testing

@testable import CassetteModel
@testable import TapeBytes

@Suite struct BodyDecoderTests {
    @Test func filesThatNoBodyCouldHoldAreRefused() throws {
        let part = #"{ "file": "a.bodies/b", "size": 9007199254740992, "sha256": "\#(String(repeating: "0", count: 64))" }"#
        let parts = Array(repeating: part, count: 1100).joined(separator: ", ")
        let request = #", "body": { "multipart": { "boundary": "X", "parts": [\#(parts)] } }"#
        let error = try #require(decodingError(#""text": "a""#, request: request))
        #expect(error.message.contains("expected smaller files"))
    }

    @Test(arguments: [
        #""file": "/etc/passwd""#, #""file": "../../.ssh/id_rsa""#, #""file": "a/../../b""#, #""file": "a\u0000b""#, #""file": "a\\b""#,
        #""file": "a//b""#, #""file": "a/""#, #""file": "./a""#, #""file": """#, #""original": "../a""#,
        #""original": { "file": "/a", "size": 1 }"#,
        #""raw": { "file": "../a", "offset": 0, "size": 1, "crc32": "00000000" }"#,
    ])
    func aPathOutOfTheFolderIsRefused(_ members: String) {
        #expect(decodingError(members)?.code == .unsafePath)
    }

    @Test(arguments: [
        #""text": 1"#, #""text": [1]"#, #""text": "\ud800""#, #""base64": "AA""#, #""base64": "A===""#, #""base64": "AB==""#,
        #""base64": "AA=A""#,
        #""text": "a", "base64": "AAAA""#, #""json": [], "style": { "indent": 9 }"#, #""json": [], "style": { "indent": -1 }"#,
        #""json": [], "style": "wide""#, #""json": [], "style": { "tail": "x" }"#, #""complete": 1"#, #""sha256": "ab""#,
        #""raw": { "file": "a", "offset": 9223372036854775807, "size": 1, "crc32": "00000000" }"#,
        #""raw": { "file": "a", "offset": 0, "size": 1, "crc32": "0" }"#, #""arrival": {}"#, #""arrival": { "reads": [[1]] }"#,
        #""arrival": { "reads": [[1, -1]] }"#, #""arrival": { "reads": [], "chunks": [] }"#,
        #""arrival": { "chunks": [[0, 1, "1\r\nX: y"]] }"#,
        #""arrival": { "reads": [[0, 9223372036854775807], [0, 1]] }"#, #""arrival": { "reads": [[1e999, 1]] }"#, #""size": 2"#,
        #""note": "a", "note": "b""#,
    ])
    func aBodyThatBreaksTheFormatIsDamaged(_ members: String) {
        #expect(decodingError(members)?.code == .damaged)
    }

    @Test(arguments: [
        #""codings": [{ "compress": {} }]"#, #""codings": [{ "gzip": { "level": 6, "flush": [1] } }]"#,
        #""text": "a", "charset": "EBCDIC""#,
        #""json": {}, "style": { "indent": 2, "tabs": true }"#,
    ])
    func whatOnlyANewerVersionCanRestoreIsRefused(_ members: String) {
        #expect(decodingError(members)?.code == .unsupportedVersion)
    }

    @Test func textMayBeOneStringOrSeveral() throws {
        func text(_ json: String) throws -> BodyContent? {
            try decodeInteraction(
                #"{"id":1,"started":"2026-11-21T04:19:28Z","request":{"method":"PUT","url":"http://a/","body":{"text":\#(json)}}}"#
            ).request.body?.content
        }
        #expect(try text(#""a\nb""#) == .text(Array("a\nb".utf8)))
        #expect(try text(#"["a\n", "b"]"#) == .text(Array("a\nb".utf8)))
        #expect(try text("[]") == .text([]))
    }

    @Test func aBodyWrittenByHandTakesItsSizeFromItsContent() throws {
        let interaction = try decodeInteraction(
            #"{"id":1,"started":"2026-11-21T04:19:28Z","request":{"method":"PUT","url":"http://a/","body":{"json":{"a": 1}}}}"#)
        #expect(interaction.request.body == Body(size: 7, content: .json(Array(#"{"a":1}"#.utf8), style: .compact)))
    }

    @Test func aSidecarsDigestComesFromItsName() throws {
        let digest = String(repeating: "0af9", count: 16)
        func sidecar(_ members: String) throws -> BodyContent? {
            try decodeInteraction(
                #"{"id":1,"started":"2026-11-21T04:19:28Z","request":{"method":"PUT","url":"http://a/","body":{"size":5,\#(members)}}}"#
            ).request.body?.content
        }
        #expect(try sidecar("\"file\": \"a/\(digest).jpg\"") == .file(Sidecar(path: "a/\(digest).jpg", size: 5, sha256: digest)))
        #expect(try sidecar("\"file\": \"a/b\", \"sha256\": \"\(digest)\"") == .file(Sidecar(path: "a/b", size: 5, sha256: digest)))
        #expect(try sidecar("\"file\": \"a/b\"") == .file(Sidecar(path: "a/b", size: 5, sha256: "")))
    }
}
