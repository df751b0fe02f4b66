import Testing

@testable import CassettePlayback

struct JSONLineFacetsTests {
    private static let lines = ["Content-Type: application/x-ndjson"]

    private func facets(_ text: String, _ rules: MatchRules = .standard, type: String = "application/x-ndjson") -> BodyFacets {
        MatchFixture.live(text, ["Content-Type: \(type)"], rules)
    }

    @Test(arguments: [
        ("application/x-ndjson", "{\"a\":1,\"b\":2}\n[1]\n", "{ \"b\": 2.0, \"a\": 1 }\r\n\n[ 1 ]"),
        ("application/jsonl", "1\n2\n", "1\n2"),
        ("application/json", "{\"a\":1}\n{\"b\":2}\n", "{ \"a\":1}\n{\"b\": 2}\n"),
        ("text/plain", "{\"a\":1}\n{\"b\":2}", "{ \"a\":1}\n{\"b\": 2}"),
        ("application/json-seq", "\u{1E}{\"a\":1}\n\u{1E}[1]\n", "\u{1E}{ \"a\": 1}\n\u{1E}\u{1E}[ 1]\n"),
        ("application/geo+json-seq", "\u{1E}{\"a\":1}\n", "\u{1E}{\n\"a\":1\n}\n"),
        ("application/x-ndjson", "{\"index\":{\"_id\":1}}\n{\"a\":1}\n", "{ \"index\":{\"_id\":1}}\n{\"a\": 1}\n"),
    ]) func equal(type: String, left: String, right: String) {
        #expect(self.facets(left, type: type) == self.facets(right, type: type))
        #expect(self.facets(left, type: type).kind == .jsonLines)
    }

    @Test(arguments: [
        (
            "application/x-ndjson", "{\"a\":1}\n{\"a\":2}\n", "{\"a\":2}\n{\"a\":1}\n",
            ["JSON \"/0/a\" is 1, recorded is 2", "JSON \"/1/a\" is 2, recorded is 1"]
        ),
        ("application/x-ndjson", "{\"a\":1}\n", "{\"a\":1}\n{}\n", ["JSON \"/1\", recorded as {…}, is missing"]),
        (
            "application/x-ndjson", "{\"index\":{}}\n{}\n", "{\"index\":{}}\n{}",
            ["JSON, recorded as a last line without an end, is missing"]
        ),
        ("application/x-ndjson", "{}\n{\"query\":{}}\n", "{}\n{\"query\":{}}", nil),
        ("application/json", "[{},{}]", "{}\n{}\n", ["body is json, recorded is json-lines"]),
        ("application/json-seq", "\u{1E}1\n", "\u{1E}1", ["body is json-lines, recorded is text"]),
        ("application/x-ndjson", "{}\n{", "{}\n[", nil),
    ]) func unequal(type: String, left: String, right: String, why: [String]?) {
        #expect(self.facets(left, type: type) != self.facets(right, type: type))
        if let why {
            #expect(self.facets(left, type: type).differences(fromRecorded: self.facets(right, type: type)).map(\.description) == why)
        }
    }

    @Test func aLineHasItsNumber() throws {
        let rules = try MatchRules(ignore: ["json:/*/at", "json:/1/id"])
        #expect(self.facets("{\"at\":1,\"id\":1}\n{\"id\":2}\n", rules) == self.facets("{\"at\":2,\"id\":1}\n{\"id\":3}\n", rules))
        #expect(self.facets("{\"at\":1,\"id\":1}\n{\"id\":2}\n", rules) != self.facets("{\"at\":1,\"id\":2}\n{\"id\":2}\n", rules))
    }

    @Test func plainTextOfSeveralLinesIsText() {
        #expect(self.facets("1\n2\n", type: "text/plain").kind == .text)
        #expect(self.facets("{}\n2\n", type: "text/plain").kind == .text)
    }
}

struct BodyCharactersTests {
    @Test(arguments: [
        "application/x-amz-json-1.0", "application/x-amz-json-1.1", "application/csp-report", "application/reports+json", "text/plain",
        "text/plain; charset=utf-8", "text/json", "", "application/jsonrpc", "application/json+protobuf", "application/json5",
        "application/vnd.docker.distribution.manifest.v1+prettyjws", "*/*", "application/javascript", "text/html",
    ]) func jsonIsKnownByTypeOrText(type: String) {
        let lines = type.isEmpty ? [] : ["Content-Type: \(type)"]
        #expect(MatchFixture.live("{\"a\":1,\"b\":2}", lines) == MatchFixture.live(" { \"b\":2, \"a\":1.0 }\n", lines))
        #expect(MatchFixture.live("{\"a\":1}", lines).kind == .json)
        #expect(MatchFixture.live("{\"a\":1}", lines) != MatchFixture.live("{\"a\":2}", lines))
    }

    @Test func encodingsOfJSONAreAlike() {
        let text = "{\"a\":\"é한\"}"
        let utf8 = MatchFixture.live(text, MatchFixture.json)
        let little = text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        let big = text.utf16.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        #expect(MatchFixture.live([0xEF, 0xBB, 0xBF] + Array(text.utf8), MatchFixture.json) == utf8)
        #expect(MatchFixture.live([0xFF, 0xFE] + little, MatchFixture.json) == utf8)
        #expect(MatchFixture.live([0xFE, 0xFF] + big, MatchFixture.json) == utf8)
        for bytes in [little, big] { #expect(MatchFixture.live(bytes, MatchFixture.json) == utf8) }
        #expect(MatchFixture.live(little, ["Content-Type: application/json; charset=utf-16"]) == utf8)
        let korean = Array("{\"a\":\"".utf8) + [0xC7, 0xD1] + Array("\"}".utf8)
        #expect(
            MatchFixture.live(korean, ["Content-Type: application/json; charset=EUC-KR"])
                == MatchFixture.live("{\"a\":\"한\"}", MatchFixture.json))
        #expect(MatchFixture.live(korean, MatchFixture.json).kind != .json)
    }

    /// The bytes are those of Python's codecs. A body in any charset equals one in UTF-8.
    @Test(
        arguments: [
            ("Big5", "中文功", [0xA4, 0xA4, 0xA4, 0xE5, 0xA5, 0x5C]), ("EUC-JP", "日本", [0xC6, 0xFC, 0xCB, 0xDC]),
            ("ISO-2022-JP", "日本", [0x1B, 0x24, 0x42, 0x46, 0x7C, 0x4B, 0x5C, 0x1B, 0x28, 0x42]), ("KOI8-R", "да", [0xC4, 0xC1]),
            ("iso-8859-2", "ł", [0xB3]), ("ISO-8859-7", "α", [0xE1]),
        ] as [(String, String, [UInt8])])
    func charactersOfOtherCharsetsAreCompared(_ charset: String, _ text: String, _ bytes: [UInt8]) {
        let json = Array("{\"b\":1,\"a\":\"".utf8) + bytes + Array("\"}".utf8)
        let here = MatchFixture.live(json, ["Content-Type: application/json; charset=\(charset)"])
        #expect(here == MatchFixture.live("{\"a\":\"\(text)\",\"b\":1}", MatchFixture.json) && here.kind == .json)
        let xml = Array("<?xml version=\"1.0\" encoding=\"\(charset)\"?><a>".utf8) + bytes + Array("</a>".utf8)
        let type = ["Content-Type: application/xml"]
        let element = MatchFixture.live(xml, type)
        #expect(element == MatchFixture.live("<a>\(text)</a>", type) && element.kind == .xml)
    }

    @Test func jsonInUTF32IsCompared() {
        let text = "{\"a\":\"é\"}"
        let big = text.unicodeScalars.flatMap { [UInt8(0), UInt8($0.value >> 16), UInt8($0.value >> 8 & 255), UInt8($0.value & 255)] }
        let little = text.unicodeScalars.flatMap { [UInt8($0.value & 255), UInt8($0.value >> 8 & 255), UInt8($0.value >> 16), UInt8(0)] }
        for bytes in [big, little, [0xFF, 0xFE, 0, 0] + little, [0, 0, 0xFE, 0xFF] + big] {
            #expect(MatchFixture.live(bytes, MatchFixture.json) == MatchFixture.live(text, MatchFixture.json))
        }
    }

    @Test(arguments: [
        "text/x-ndjson", "application/x-jsonl", "application/json-lines", "application/x-ldjson", "application/ldjson",
        "application/newline-delimited-json", "application/x-ndjson",
    ]) func jsonLinesAreKnownByTheirTypes(_ type: String) {
        let lines = ["Content-Type: \(type)"]
        let facets = MatchFixture.live("{\"a\":1,\"b\":2}\n3\n", lines)
        #expect(facets == MatchFixture.live("{\"b\":2, \"a\":1}\r\n3\r\n", lines) && facets.kind == .jsonLines)
    }

    @Test(arguments: [
        ("application/x-messagepack", BodyFacets.Kind.messagePack), ("application/messagepack", .messagePack), ("application/cose", .cbor),
    ])
    func binaryTreesAreKnownByTheirTypes(_ type: String, _ kind: BodyFacets.Kind) {
        let bytes: [UInt8] = kind == .cbor ? [0xA1, 0x61, 0x61, 1] : [0x81, 0xA1, 0x61, 1]
        #expect(MatchFixture.live(bytes, ["Content-Type: \(type)"]).kind == kind)
    }

    @Test func fewTextsAreJSON() {
        #expect(MatchFixture.live("1", MatchFixture.text).kind == .text)
        #expect(MatchFixture.live("{a", MatchFixture.text).kind == .text)
        #expect(MatchFixture.live("{\"a\":1}", MatchFixture.binary).kind == .bytes)
    }
}
