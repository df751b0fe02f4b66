@testable import CassetteModel
@testable import TapeBytes
import Testing

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
    func bodyOfANewerVersionIsRefused(_ members: String) {
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

@Suite struct CodingsDecoderTests {
    private func codings(_ json: String) throws -> [ContentCoding]? {
        try decodeInteraction(
            #"{"id":1,"started":"2026-11-21T04:19:28Z","request":{"method":"PUT","url":"http://a/","body":{"size":1,"text":"a","codings":\#(json)}}}"#
        ).request.body?.codings
    }

    @Test func omittedMembersHaveTheirDefaults() throws {
        #expect(try self.codings(#"[{"gzip":{"level":6}}]"#) == [.gzip(DeflateParameters(level: 6), header: .plain)])
        #expect(try self.codings(#"[{"gzip":{}},{"deflate":{}}]"#) == [.gzip(nil, header: .plain), .deflate(nil)])
        #expect(
            try self.codings(#"[{"raw-deflate":{"level":0,"memory":9,"window":9,"strategy":4}}]"#)
                == [.rawDeflate(DeflateParameters(level: 0, memoryLevel: 9, windowBits: 9, strategy: 4))])
    }

    @Test func flushesAndMembersAreRead() throws {
        #expect(
            try self.codings(#"[{"deflate":{"level":6,"flushes":[0,4096]}}]"#) == [
                .deflate(DeflateParameters(level: 6, flushes: [0, 4096]))
            ])
        let header = GzipHeader(bytes: [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255])
        #expect(
            try self.codings(
                #"[{"gzip":[{"size":7,"level":6},{"size":0,"level":1,"flushes":[3]},{"level":9,"header":"1f8b08000000000002ff"}]}]"#)
                == [
                    .gzipMembers([
                        GzipMember(header: .plain, parameters: DeflateParameters(level: 6), size: 7),
                        GzipMember(header: .plain, parameters: DeflateParameters(level: 1, flushes: [3]), size: 0),
                        GzipMember(header: header, parameters: DeflateParameters(level: 9), size: nil),
                    ])
                ])
    }

    @Test func membersAndFlushesHaveLimits() {
        let members = Array(repeating: #"{"size":1,"level":6}"#, count: 16).joined(separator: ",")
        #expect(decodingError(#""codings": [{"gzip":[\#(members),{"level":6}]}]"#)?.code == .tooLarge)
        let flushes = Array(repeating: "1", count: 1025).joined(separator: ",")
        #expect(decodingError(#""codings": [{"gzip":{"level":6,"flushes":[\#(flushes)]}}]"#)?.code == .tooLarge)
        #expect(decodingError(#""codings": [{"gzip":[{"size":1,"level":6},{"level":6,"quality":1}]}]"#)?.code == .unsupportedVersion)
    }

    @Test(arguments: [
        #"[{"gzip":[]}]"#, #"[{"gzip":[{"level":6}]}]"#, #"[{"gzip":[{"level":6},{"level":6}]}]"#, #"[{"gzip":[{"size":1},{"level":6}]}]"#,
        #"[{"gzip":[{"size":1,"level":6},{"size":1,"level":6}]}]"#, #"[{"gzip":[{"size":-1,"level":6},{"level":6}]}]"#,
        #"[{"gzip":[{"size":1,"level":6},{}]}]"#, #"[{"deflate":[{"size":1,"level":6},{"level":6}]}]"#, #"[{"gzip":[1,2]}]"#,
        #"[{"gzip":{"level":6,"size":1}}]"#, #"[{"gzip":{"flushes":[1]}}]"#, #"[{"gzip":{"level":6,"flushes":[-1]}}]"#,
        #"[{"gzip":{"level":6,"flushes":1}}]"#, #"[{"gzip":{"level":6,"flushes":["1"]}}]"#, #"[{"gzip":{"level":6,"flushes":[1.5]}}]"#,
    ])
    func membersAndFlushesThatMakeNoStreamAreRefused(_ json: String) throws {
        #expect([.damaged, .unsupportedVersion].contains(decodingError("\"codings\": \(json)")?.code))
    }

    @Test(arguments: [
        #"[{"gzip":{"level":10}}]"#, #"[{"gzip":{"memory":9}}]"#, "[{}]", "{}", "[1]", #"[{"deflate":{"level":6,"window":99}}]"#,
        #"[{"deflate":{"level":6,"window":8}}]"#, #"[{"gzip":{"header":"1f8b"}}]"#, #"[{"gzip":{"header":"zz"}}]"#,
        #"[{"gzip":{},"deflate":{}}]"#,
        #"[{"gzip":{"level":6.0}}]"#, #"[{"br":1}]"#, #"[{"br":{},"gzip":{}}]"#,
    ])
    func parametersThatZlibRefusesAreDamage(_ json: String) {
        #expect(decodingError("\"codings\": \(json)")?.code == .damaged)
    }

    @Test func theOrderIsKept() throws {
        #expect(try self.codings(#"[{"gzip":{}},{"br":{}},{"zstd":{}}]"#) == [.gzip(nil, header: .plain), .brotli, .zstandard])
    }

    @Test(arguments: [#"[{"br":{"quality":5}}]"#, #"[{"zstd":{"level":3}}]"#, #"[{"compress":{}}]"#])
    func unknownMemberThatChangesTheBytesIsRefused(_ json: String) {
        #expect(decodingError("\"codings\": \(json)")?.code == .unsupportedVersion)
    }

    @Test func thereAreEightAtMost() {
        let many = Array(repeating: "{\"gzip\":{}}", count: 9).joined(separator: ",")
        #expect(decodingError("\"codings\": [\(many)]")?.code == .tooLarge)
    }
}
