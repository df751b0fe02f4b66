import CassetteModel
import Testing

@testable import CassetteRedaction

/// Secrets in header fields whose names are not in any table.
@Suite struct OtherFieldsTests {
    private static let secret = "h7nter2XqRz41"

    private func base64(_ text: String) -> String { String(decoding: SecretCorpus.base64(Array(text.utf8)), as: UTF8.self) }

    @Test(arguments: [
        "X-Foo-Token: h7nter2XqRz41", "Acme-Upload-Token: h7nter2XqRz41", "X-Acme-JWT: h7nter2XqRz41", "X-ClickHouse-Key: h7nter2XqRz41",
        "X-Acme-Key: h7nter2XqRz41kM03", "Jenkins-Crumb: h7nter2XqRz41", "X-Firebase-AppCheck: h7nter2XqRz41",
        "X-Upstream: Bearer h7nter2XqRz41", "X-Upstream: bearer  h7nter2XqRz41", "X-Config: user=b;password=h7nter2XqRz41",
        "X-Config: user=b; password=h7nter2XqRz41", "X-Config: password = h7nter2XqRz41", "User-Agent: x token=h7nter2XqRz41",
        "X-Config: {'password': 'h7nter2XqRz41'}", "X-Next: /a;b=1?token=h7nter2XqRz41", "Via: 1.1 x (password: h7nter2XqRz41)",
        "X-Debug: password%3Dh7nter2XqRz41", "X-Debug: Authorization=Bearer h7nter2XqRz41",
    ])
    func valueIsRemovedAndTheRestStays(line: String) {
        let redacted = RedactionFixtures.lines(["Accept: */*", line, "Connection: close"])
        #expect(!redacted.joined().contains(Self.secret), "\(redacted)")
        #expect(redacted.first == "Accept: */*" && redacted.last == "Connection: close")
        #expect(redacted[1].hasPrefix(line.prefix { $0 != ":" }))
        #expect(RedactionFixtures.lines(redacted) == redacted)
    }

    @Test func credentialsOfBasicAreRemovedUnderAnyName() {
        for value in ["bob:\(Self.secret)", ":\(Self.secret)", "\(Self.secret):"] {
            let coded = self.base64(value)
            #expect(RedactionFixtures.lines(["X-Upstream: Basic \(coded)"]) == ["X-Upstream: Basic {{authorization:1}}"])
        }
    }

    @Test func base64InAFieldIsRedactedWithin() {
        for text in [#"{"password": "h7nter2XqRz41"}"#, "DB_PASSWORD=h7nter2XqRz41\nX=1\n", #"{"user":"b","token":"h7nter2XqRz41"}"#] {
            let lines = RedactionFixtures.lines(["X-Config: \(self.base64(text))", "Connection: close"])
            let content = Array(lines[0].utf8.dropFirst("X-Config: ".utf8.count)).withUnsafeBytes { Base64Text($0[...])?.content ?? [] }
            let found = String(decoding: content, as: UTF8.self)
            #expect(found.contains("{{") && !found.contains(Self.secret), "\(lines) \(found)")
            #expect(lines[1] == "Connection: close")
        }
    }

    @Test(arguments: [
        "Idempotency-Key: KG5LxwFBepaKHyUD1234", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "X-Next-Page-Token: CAUQAA12345678",
        "Surrogate-Key: a1b2c3d4e5f6a7b8c9d0", "X-Cache-Key: a1b2c3d4e5f6a7b8c9d0", "X-Sync-Token: CPDAlvWDx70CEPDAlvWDx70C",
        "Lock-Token: <urn:uuid:e71d4fae-5dec-22d6-fea5-00a0c91e6be4>",
        "WWW-Authenticate: Bearer realm=\"x12345678\", error=\"invalid_token\"",
        "WWW-Authenticate: Basic realm=\"Access 1234\"", "X-Plan: Basic plan", "X-Plan: Bearer bonds", "X-Plan: Basic dictionary",
        "Access-Control-Allow-Headers: X-Foo-Token, Authorization", "Vary: X-Foo-Token", "X-Token-Type: Bearer", "X-Foo-Token: none",
        "Content-Disposition: attachment; filename=\"report-2024.pdf\"", "Cache-Control: private, max-age=12345678",
        "Server-Timing: key;dur=123.4, db;dur=53", "Alt-Svc: h3=\":443\"; ma=2592000", "X-Object-Key: a1b2c3d4e5f6a7b8c9d0",
        "Strict-Transport-Security: max-age=63072000; includeSubDomains", "X-Acme-Key: button-primary-hover-2",
        "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/119.0.0.0 Safari/537.36",
        "Signature-Input: sig1=(\"@method\");created=1618884473;keyid=\"test-key-rsa\"", "X-Foo: token = your birthday",
        "Link: <https://example.com/?page=2>; rel=\"next\"", "Accept: text/html;q=0.9",
        "Digest: SHA-256=X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=",
    ])
    func valueStays(line: String) {
        #expect(RedactionFixtures.lines([line, "Connection: close"]) == [line, "Connection: close"])
    }

    @Test func exceptionsApply() throws {
        let rules = try RedactionRules(rules: [], keep: ["header:x-foo-token"])
        #expect(RedactionFixtures.lines(["X-Foo-Token: \(Self.secret)"], rules: rules) == ["X-Foo-Token: \(Self.secret)"])
    }

    @Test(arguments: [
        "X-Api-Key: h7nter2XqRz41", "X-Foo-Token:h7nter2XqRz41", "X-Upstream: Bearer h7nter2XqRz41", "X-Note: token=h7nter2XqRz41",
    ])
    func fieldsOfAPartAreSearched(line: String) {
        let body =
            "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a1.txt\"\r\n\(line)\r\n\r\nx\r\n--B\r\n"
            + "Content-Disposition: form-data; name=\"password\"\r\n\r\nsecond7Xq\r\n--B--\r\n"
        let redacted = RedactionFixtures.body(body, type: "multipart/form-data; boundary=B")
        #expect(!redacted.contains(Self.secret) && !redacted.contains("second7Xq"), "\(redacted)")
        #expect(redacted.contains("name=\"f\"; filename=\"a1.txt\"\r\n") && redacted.contains("\r\n\r\nx\r\n--B\r\n"))
    }
}
