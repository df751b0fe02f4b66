import CassetteModel
@testable import CassetteRedaction
@testable import TapeBytes
import Testing

@Suite struct RedactedDigestsTests {
    private let script = Array(#"const key = {"password":"hunter2hunter2"}"#.utf8)
    private let digests = RedactedDigests()

    init() { self.digests.add(self.script, request: "GET http://h.test/app.js") }

    private func algorithms(in text: String) -> [String] {
        Array(text.utf8).withUnsafeBytes { self.digests.references(in: $0).map(\.algorithm.rawValue) }
    }

    private func hex(_ checksum: BodyChecksum) -> String { Hex.encode(checksum.value(of: self.script)) }

    private func base64(_ checksum: BodyChecksum) -> String {
        String(decoding: SecretCorpus.base64(checksum.value(of: self.script)), as: UTF8.self)
    }

    private func escaped(_ plus: String, _ slash: String, _ equals: String) -> String {
        self.base64(.sha512).replacing("/", with: slash).replacing("=", with: equals).replacing("+", with: plus)
    }

    @Test func everySpellingIsFound() {
        let integrity = self.base64(.sha384)
        for (text, algorithm) in [
            (#"<script src="/app.js" integrity="sha384-\#(integrity)"></script>"#, "SHA-384"),
            (#"{"html": "<script integrity=\"sha384-\#(integrity)\">"}"#, "SHA-384"),
            ("script-src 'sha256-\(self.base64(.sha256))'", "SHA-256"),
            ("https://pypi.test/a.whl#sha256=\(self.hex(.sha256))", "SHA-256"),
            ("http://registry.test/v2/x/blobs/sha256:\(self.hex(.sha256))", "SHA-256"),
            ("http://registry.test/v2/x/uploads/1?digest=sha256%3A\(self.hex(.sha256))", "SHA-256"),
            ("/v2/x/blobs/sha256/\(self.hex(.sha256))", "SHA-256"),
            (#"{"integrity":"sha512-\#(self.base64(.sha512))","shasum":""}"#, "SHA-512"),
            (#"{"integrity":"sha512-\#(self.base64(.sha512).replacing("/", with: "\\/"))"}"#, "SHA-512"),
            (#"{\"integrity\":\"sha512-\#(self.base64(.sha512).replacing("/", with: "\\\\/"))\"}"#, "SHA-512"),
            (
                "?i=sha512-\(self.base64(.sha512).replacing("+", with: "%2B").replacing("/", with: "%2f").replacing("=", with: "%3D"))",
                "SHA-512"
            ),
            ("sha512-\(self.base64(.sha512).replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: ""))", "SHA-512"),
            (#"{"hash":"sha512-\#(self.escaped("\\u002B", "\\u002F", "\\u003D"))"}"#, "SHA-512"),
            ("<script integrity=\"sha512-\(self.escaped("&#43;", "&#47;", "&#61;"))\">", "SHA-512"),
            ("<script integrity=\"sha512-\(self.escaped("&#x2B;", "&#x2f;", "&#x3d;"))\">", "SHA-512"),
            ("<script integrity=\"sha512-\(self.escaped("&plus;", "&sol;", "&equals;"))\">", "SHA-512"),
            ("let i = 'sha512-\(self.escaped("\\x2b", "\\x2F", "\\x3D"))'", "SHA-512"),
            (
                #"{"html":"\u003cscript integrity=\"sha512-\#(self.escaped("\\u0026#43;", "\\u0026#47;", "\\u0026#61;"))\"\u003e"}"#,
                "SHA-512"
            ),
            ("\(self.hex(.sha1))", "SHA-1"), ("\(self.hex(.sha1).uppercased())\n", "SHA-1"), (self.base64(.sha1), "SHA-1"),
            (#"<ETag>&quot;\#(self.hex(.md5))&quot;</ETag>"#, "MD5"), (#"line one\n\#(self.hex(.md5))\nline"#, "MD5"),
            ("Content-MD5: \(self.base64(.md5))", "MD5"),
        ] {
            #expect(self.algorithms(in: text) == [algorithm], "\(text)")
        }
    }

    @Test func aPartOfAPlaceholderIsNoPlaceholder() {
        for text in [
            "", String(self.hex(.sha256).dropLast()), "a" + self.hex(.sha256), self.hex(.sha256) + "0",
            String(repeating: "a", count: 10_000), self.base64(.sha256).replacing("=", with: "A"), "%", "\\", "%zz" + self.hex(.crc32),
        ] {
            #expect(self.algorithms(in: text) == [], "\(text)")
        }
    }

    @Test func eachOffsetIsSearched() {
        for count in 0..<64 {
            let text = String(repeating: " ", count: count) + self.hex(.md5) + String(repeating: " ", count: 64 - count)
            #expect(self.algorithms(in: text) == ["MD5"], "\(count)")
        }
    }

    private func redacted(_ body: [UInt8], by redactor: Redactor, _ fields: [String] = ["Content-Type: text/javascript"]) -> [UInt8]? {
        var interaction = Interaction(
            id: 1, started: Timestamp(microseconds: 0), request: RecordedRequest(method: "GET", url: "http://h.test/app.js"))
        interaction.response = RecordedResponse(status: 200, headers: HeaderFields(fields))
        var request: WireBody?
        var wire: WireBody? = WireBody(body)
        _ = redactor.redact(&interaction, requestBody: &request, responseBody: &wire)
        return wire?.bytes
    }

    @Test func onlyChangedBodiesAreRemembered() {
        let redactor = Redactor()
        #expect(self.redacted(Array("let a = 1".utf8), by: redactor) == Array("let a = 1".utf8))
        #expect(redactor.digests.isEmpty)
        #expect(self.redacted(self.script, by: redactor) != self.script)
        let found = Array(self.hex(.sha256).utf8).withUnsafeBytes { redactor.digests.references(in: $0) }
        #expect(found.map(\.body.request) == ["GET http://h.test/app.js"])
        #expect(found.map(\.body.digest) == [BodyChecksum.sha256.value(of: self.script)])
    }

    @Test func aBodyThatAnExceptionNamesStays() throws {
        let option = RedactionException.keeping(body: BodyChecksum.sha256.value(of: self.script)).text
        #expect(option == "body:sha256:\(self.hex(.sha256))")
        let redactor = Redactor(rules: try RedactionRules(rules: [], keep: [option]))
        #expect(self.redacted(self.script, by: redactor) == self.script)
        #expect(self.redacted(self.script + [10], by: redactor) != self.script + [10])
        for text in ["body:", "body:sha256:", "body:sha256:12", "body:md5:\(self.hex(.md5))", "body:sha256:\(self.hex(.md5))"] {
            #expect(throws: SettingSyntaxError.self, "\(text)") { try RedactionException(text) }
        }
    }
}
