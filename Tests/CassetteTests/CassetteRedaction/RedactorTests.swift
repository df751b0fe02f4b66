@testable import CassetteModel
@testable import CassetteRedaction
@testable import TapeBytes
import Testing

@Suite struct RedactorTests {
    typealias Fixtures = RedactionFixtures

    @Test func trailersLoseTheirSecrets() {
        var request = RecordedRequest(method: "GET", url: "http://h/", headers: HeaderFields(["Authorization: Bearer s3cret-0123"]))
        request.trailers = HeaderFields(["X-Q: s3cret-0123"])
        var body: WireBody?
        let redactor = Redactor()
        for _ in 0..<2 { _ = redactor.redact(request: &request, body: &body) }
        #expect(request.trailers?.lines == ["X-Q: {{authorization:1}}"])
    }

    @Test func interimAnswersAndWordsOfAFailureLoseTheirSecrets() {
        var interaction = Interaction(
            id: 1, started: Timestamp(microseconds: 1),
            request: RecordedRequest(method: "GET", url: "http://h/", headers: HeaderFields(["Authorization: Bearer s3cret-0123"])),
            interim: [InterimResponse(version: .http11, status: 103, reason: [], headers: HeaderFields(["Link: <s3cret-0123>"]), at: 1)],
            outcome: .failed(Failure(kind: .truncated, message: "it ended at s3cret-0123")))
        var (request, response): (WireBody?, WireBody?) = (nil, nil)
        _ = Redactor().redact(&interaction, requestBody: &request, responseBody: &response)
        #expect(interaction.interim.map(\.headers.lines) == [["Link: <{{authorization:1}}>"]])
        #expect(interaction.outcome == .failed(Failure(kind: .truncated, message: "it ended at {{authorization:1}}")))
    }

    @Test func theReasonOfACutLosesItsSecrets() {
        var interaction = Interaction(
            id: 1, started: Timestamp(microseconds: 1),
            request: RecordedRequest(method: "GET", url: "http://h/", headers: HeaderFields(["Authorization: Bearer s3cret-0123"])),
            outcome: .cut(Cut(by: .origin, reason: "it ended at s3cret-0123")))
        var (request, response): (WireBody?, WireBody?) = (nil, nil)
        _ = Redactor().redact(&interaction, requestBody: &request, responseBody: &response)
        #expect(interaction.outcome == .cut(Cut(by: .origin, reason: "it ended at {{authorization:1}}")))
    }

    @Test func patternsAreLookedForInShortWordsToo() throws {
        var response = RecordedResponse(status: 200, reason: Array("123".utf8))
        var body: WireBody?
        _ = Redactor(rules: try RedactionRules(rules: ["text=[0-9]{3}"])).redact(response: &response, body: &body)
        #expect(String(decoding: response.reason, as: UTF8.self) == "{{text:1}}")
    }

    @Test(arguments: [
        ("Authorization: Bearer abcdef123456", "Authorization: Bearer {{authorization:1}}"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZDE=", "Authorization: Basic {{authorization:1}}"),
        ("authorization: abcdef123456", "authorization: {{authorization:1}}"),
        ("Proxy-Authorization: Basic dXNlcjpwYXNzd29yZDE=", "Proxy-Authorization: Basic {{authorization:1}}"),
        ("Cookie: a=1; session=deadbeef0123", "Cookie: a=1; session={{cookie:1}}"),
        ("Set-Cookie: id=a3fWa91x; Path=/; HttpOnly", "Set-Cookie: id={{cookie:1}}; Path=/; HttpOnly"),
        ("X-Api-Key: 0123456789abcdef", "X-Api-Key: {{api-key:1}}"),
        ("X-Vault-Token: s.abcdefgh12345678", "X-Vault-Token: {{token:1}}"),
        ("X-Amz-Security-Token: FwoGZXIvYXdzEBc", "X-Amz-Security-Token: {{token:1}}"),
        ("X-Hasura-Admin-Secret: abcdefgh12345678", "X-Hasura-Admin-Secret: {{secret:1}}"),
        ("X-Chef-Secret: abcdefgh12345678", "X-Chef-Secret: {{secret:1}}"),
        ("Authorization-Token: abcdefgh12345678", "Authorization-Token: {{token:1}}"),
        ("X-Goog-Iap-Jwt-Assertion: abcdefgh12345678", "X-Goog-Iap-Jwt-Assertion: {{token:1}}"),
        ("X-Mailgun-Signature: abcdefgh12345678", "X-Mailgun-Signature: {{signature:1}}"),
        ("X-CSRF-Token: i8XNjC4b8KVok4uw5RftR38Wgp2BFwql", "X-CSRF-Token: {{csrf-token:1}}"),
        (
            "Referer: https://example.com/cb?access_token=abc123def456&x=1",
            "Referer: https://example.com/cb?access_token=%7B%7Baccess_token:1%7D%7D&x=1"
        ),
        ("Location: https://u:pa55word@example.com/", "Location: https://u:%7B%7Bpassword%3A1%7D%7D@example.com/"),
        ("Content-Type: text/html; charset=utf-8", "Content-Type: text/html; charset=utf-8"),
        ("ETag: \"33a64df551425fcc55e4d42a148795d9f25f89d4\"", "ETag: \"33a64df551425fcc55e4d42a148795d9f25f89d4\""),
        ("X-Request-Id: 3f2504e0-4f89-11d3-9a0c-0305e82c3301", "X-Request-Id: 3f2504e0-4f89-11d3-9a0c-0305e82c3301"),
    ])
    func fieldsLoseTheirSecrets(line: String, redacted: String) {
        #expect(Fixtures.lines([line]) == [redacted])
    }

    @Test(arguments: [
        (
            "https://api.example.com/v1?api_key=abcdef1234567890&q=cats",
            "https://api.example.com/v1?api_key={{api-key:1}}&q=cats"
        ),
        ("https://example.com/cb?code=4%2F0AbCdEf&state=xyz", "https://example.com/cb?code={{code:1}}&state=xyz"),
        ("https://example.com/?code=404", "https://example.com/?code=404"),
        (
            "https://example.com/#access_token=abc123def&expires_in=3600",
            "https://example.com/#access_token={{access_token:1}}&expires_in=3600"
        ),
        ("https://user:s3cretpass@example.com/", "https://user:%7B%7Bpassword%3A1%7D%7D@example.com/"),
        (
            "https://s3.amazonaws.com/b/k?X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20260101&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404",
            "https://s3.amazonaws.com/b/k?X-Amz-Credential={{aws-key:1}}&X-Amz-Signature={{signature:1}}"
        ),
        ("https://maps.example.com/?key=AIzaSyA1234567890abcdefghijklmnopqrstuvw", "https://maps.example.com/?key={{api-key:1}}"),
        ("https://example.com/?token=%7B%7Btoken:1%7D%7D", "https://example.com/?token={{token:1}}"),
        ("/search?q=password", "/search?q=password"),
    ])
    func addressesLoseTheirSecrets(url: String, redacted: String) {
        #expect(Fixtures.url(url) == redacted)
    }

    @Test(arguments: [
        (#"{"access_token":"abc123def456","expires_in":3600}"#, #"{"access_token":"{{access_token:1}}","expires_in":3600}"#),
        (#"{ "refreshToken" : "r\"x/1" , "n": null }"#, #"{ "refreshToken" : "{{refresh_token:1}}" , "n": null }"#),
        (#"{"password":12345678}"#, #"{"password":2002900001}"#),
        (#"{"user":{"Password":""}}"#, #"{"user":{"Password":""}}"#),
        (#"{"code":"not_found","key":"a","token":true}"#, #"{"code":"not_found","key":"a","token":true}"#),
        (#"{"body":"{\"password\":\"hunter2x\"}"}"#, #"{"body":"{\"password\":\"{{password:1}}\"}"}"#),
        (
            #"{"next":"https://e.com/?access_token=abc123def456"}"#,
            #"{"next":"https://e.com/?access_token=%7B%7Baccess_token:1%7D%7D"}"#
        ),
        (#"{"password":"hunter2x","echo":"hunter2x!"}"#, #"{"password":"{{password:1}}","echo":"{{password:1}}!"}"#),
        (
            #"{"pageToken":"CAUQAA","sha":"da39a3ee5e6b4b0d3255bfef95601890afd80709"}"#,
            #"{"pageToken":"CAUQAA","sha":"da39a3ee5e6b4b0d3255bfef95601890afd80709"}"#
        ),
    ])
    func textsOfJSONLoseTheirSecrets(text: String, redacted: String) {
        #expect(Fixtures.body(text) == redacted)
    }

    @Test func formsStayForms() throws {
        let text = Fixtures.body(
            "grant_type=password&username=a%40b&password=p%26ss+w0rd&user%5Bpassword%5D=x", type: "application/x-www-form-urlencoded")
        #expect(text == "grant_type=password&username=a%40b&password=%7B%7Bpassword%3A1%7D%7D&user%5Bpassword%5D=%7B%7Bpassword%3A2%7D%7D")
        let form = try #require(Array(text.utf8).withUnsafeBytes { FormText($0) })
        #expect(form.fields[2].value == "{{password:1}}")
    }

    @Test func theSameSecretHasTheSamePlaceholderEverywhere() {
        var interaction = Interaction(
            id: 1, started: Timestamp(microseconds: 0),
            request: RecordedRequest(
                method: "POST", url: "https://e.com/?next=Xy12%2B34Zw",
                headers: HeaderFields(["Content-Type: text/plain", "X-Echo: Xy12+34Zw"])),
            response: RecordedResponse(status: 200, headers: HeaderFields(["Content-Type: application/json", "Content-Encoding: gzip"])))
        var request: WireBody? = WireBody(Array("old WHkxMiszNFp3 and Xy12+34Zw".utf8))
        var response: WireBody? = WireBody(Fixtures.gzip(Array(#"{"access_token":"Xy12+34Zw"}"#.utf8)))
        _ = Redactor().redact(&interaction, requestBody: &request, responseBody: &response)
        #expect(interaction.request.url == "https://e.com/?next={{access_token:1}}")
        #expect(interaction.request.headers.lines[1] == "X-Echo: {{access_token:1}}")
        let encoded = String(decoding: SecretCorpus.base64(Array("{{access_token:1}}".utf8)), as: UTF8.self)
        #expect(String(decoding: request?.bytes ?? [], as: UTF8.self) == "old \(encoded) and {{access_token:1}}")
        let text = GzipText.gunzip(response?.bytes ?? [])
        #expect(text == #"{"access_token":"{{access_token:1}}"}"#)
    }

    @Test func lengthsAndDigestsFitAfterwards() {
        let body = Array(#"{"password":"hunter2x"}"#.utf8)
        var digest = PortableSHA256()
        body.withUnsafeBytes { digest.update($0) }
        let old = String(decoding: SecretCorpus.base64(digest.finalize()), as: UTF8.self)
        var response = RecordedResponse(
            status: 200,
            headers: HeaderFields([
                "Content-Type: application/json", "Content-Length: \(body.count)", "Content-Digest: sha-256=:\(old):",
                "Content-MD5: 1B2M2Y8AsgTpgAmY7PhCfg==",
            ]))
        var wire: WireBody? = WireBody(
            body, arrival: Arrival(isChunked: true, pieces: [.init(at: 0, size: 15, line: "f;x"), .init(at: 1, size: 8)]))
        let outcome = Redactor().redact(response: &response, body: &wire)
        let redacted = Array(#"{"password":"{{password:1}}"}"#.utf8)
        #expect(wire?.bytes == redacted)
        var again = PortableSHA256()
        redacted.withUnsafeBytes { again.update($0) }
        #expect(response.headers.first("content-length") == "\(redacted.count)")
        #expect(
            response.headers.first("content-digest")
                == "sha-256=:\(String(decoding: SecretCorpus.base64(again.finalize()), as: UTF8.self)):")
        #expect(outcome.note == "content-md5 does not fit the redacted body")
        #expect(wire?.arrival?.pieces.map(\.size) == [27, 2])
        #expect(wire?.arrival?.pieces.first?.line == "1b;x")
    }

    @Test func exceptionsStay() throws {
        let rules = try RedactionRules(rules: [], keep: ["header:authorization", "query:token", "json:/user/password", "api-key"])
        #expect(
            Fixtures.lines(["Authorization: Bearer abc123def", "X-API-Key: abc123def"], rules: rules) == [
                "Authorization: Bearer abc123def", "X-API-Key: abc123def",
            ])
        #expect(Fixtures.url("http://e/?token=abc123&password=abc124", rules: rules) == "http://e/?token=abc123&password={{password:1}}")
        #expect(
            Fixtures.body(#"{"user":{"password":"abc123"},"password":"def456"}"#, rules: rules)
                == #"{"user":{"password":"abc123"},"password":"{{password:1}}"}"#)
    }

    @Test func rulesNamePlacesAndPatterns() throws {
        let rules = try RedactionRules(rules: [
            "header:x-mail", "query:who", "json:/user/*/name", "form:nick", "part:note", "path=[0-9]{6}", "text=[a-z]+@example\\.com",
        ])
        #expect(Fixtures.lines(["X-Mail: anna"], rules: rules) == ["X-Mail: {{x-mail:1}}"])
        #expect(Fixtures.url("http://e/u/123456/x?who=me", rules: rules) == "http://e/u/{{path:1}}/x?who={{who:1}}")
        #expect(
            Fixtures.body(#"{"user":[{"name":"Anna B."},{"name":7}],"name":"x","to":"anna@example.com"}"#, rules: rules)
                == #"{"user":[{"name":"{{name:1}}"},{"name":2002900002}],"name":"x","to":"{{text:1}}"}"#)
        #expect(Fixtures.body("nick=anna&x=1", type: "application/x-www-form-urlencoded", rules: rules) == "nick=%7B%7Bnick%3A1%7D%7D&x=1")
        #expect(
            Fixtures.body(
                "--b\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nhi\r\n--b--\r\n", type: "multipart/form-data; boundary=b",
                rules: rules)
                == "--b\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\n{{note:1}}\r\n--b--\r\n")
    }

    @Test func secretsOfTheEnvironmentAreFoundByValue() throws {
        let rules = try RedactionRules(rules: [], secrets: [SecretValue(name: "DB_URL", bytes: Array("pg-9931-xq".utf8))])
        #expect(Fixtures.body("the pg-9931-xq is", type: "text/plain", rules: rules) == "the {{env-DB_URL:1}} is")
    }

    @Test func bytesThatAreNoTextKeepTheirNumber() {
        let vault = SecretVault()
        _ = vault.placeholder(for: Array("s3cret-value-0123".utf8), kind: "token")
        let body: [UInt8] = [0, 1, 255] + Array("s3cret-value-0123".utf8) + [0, 254]
        let redacted = Fixtures.bytes(body, ["Content-Type: application/x-protobuf"], vault: vault)
        #expect(redacted == [0, 1, 255] + Array("{{token:1}}******".utf8) + [0, 254])
    }

    @Test func chunkExtensionsHoldNoSecret() {
        let vault = SecretVault()
        _ = vault.placeholder(for: Array("s3cret-0123".utf8), kind: "token")
        var arrival: Arrival? = Arrival(
            isChunked: true, pieces: [.init(at: 0, size: 5, line: "5;t=s3cret-0123"), .init(at: 1, size: 5, line: "05")],
            lastLine: "0;t=s3cret-0123")
        #expect(Redactor(vault: vault).redact(&arrival) == 2)
        #expect(arrival?.pieces.map(\.line) == ["5;t={{token:1}}", "05"])
        #expect(arrival?.lastLine == "0;t={{token:1}}")
        var response = RecordedResponse(status: 200, headers: HeaderFields())
        var body: WireBody? = WireBody(
            Array("hello".utf8), arrival: Arrival(isChunked: true, pieces: [.init(at: 0, size: 5, line: "5;t=s3cret-0123")]))
        #expect(Redactor(vault: vault).redact(response: &response, body: &body).isBodyChanged)
        #expect(body?.arrival?.pieces.first?.line == "5;t={{token:1}}")
    }

    @Test func valuesThatRulesNameAreTakenOutElsewhereToo() throws {
        let rules = try RedactionRules(rules: ["json:/mail", "path=ann-[0-9]+", "text=[a-z]+@corp\\.example"])
        let vault = SecretVault()
        #expect(RedactionFixtures.body(#"{"mail":"anna@example.com"}"#, rules: rules, vault: vault) == #"{"mail":"{{mail:1}}"}"#)
        #expect(RedactionFixtures.body("to anna@example.com", type: "text/plain", rules: rules, vault: vault) == "to {{mail:1}}")
        #expect(RedactionFixtures.url("http://h/u/ann-7788", rules: rules, vault: vault) == "http://h/u/{{path:1}}")
        #expect(RedactionFixtures.body("see ann-7788", type: "text/plain", rules: rules, vault: vault) == "see {{path:1}}")
        #expect(RedactionFixtures.url("http://h/?q=bob%40corp.example", rules: rules, vault: vault) == "http://h/?q={{text:1}}")
        #expect(RedactionFixtures.body(#"{"m":"bob\u0040corp.example"}"#, rules: rules, vault: vault) == #"{"m":"{{text:1}}"}"#)
    }

    @Test func aNamedValueIsLookedForThoughOthersTakeItForAWord() throws {
        let rules = try RedactionRules(rules: [], secrets: [SecretValue(name: "PW", bytes: Array("changeme".utf8))])
        #expect(RedactionFixtures.body("a changeme b changemes", type: "text/plain", rules: rules) == "a {{env-PW:1}} b changemes")
        #expect(throws: SettingSyntaxError.self) {
            try RedactionRules(rules: [], secrets: [SecretValue(name: "PIN", bytes: Array("12345".utf8))])
        }
    }
}

@Suite struct RedactorSourcesTests {
    @Test func nothingIsDeliveredWhereNothingIsToBeDone() throws {
        let outcome = try Redactor().redact(ByteSource(Array("plain".utf8)), headers: HeaderFields(), isComplete: true) { _ in
            Issue.record("delivered")
        }
        #expect(!outcome.isChanged)
    }

    @Test func theHeadFitsTheNewBytes() throws {
        let old = ByteSource(Array("{\"token\":\"abc123\"}".utf8))
        var headers = HeaderFields(["Content-Length: \(old.size)"])
        var bytes: [UInt8] = []
        var outcome = try Redactor().redact(old, headers: headers, isComplete: true) { bytes.append(contentsOf: $0) }
        var trailers: HeaderFields?
        var arrival: Arrival? = Arrival(isChunked: false, pieces: [.init(at: 0, size: old.size)])
        try Redactor().fit(&headers, &trailers, arrival: &arrival, from: old, to: ByteSource(bytes), outcome: &outcome)
        #expect(headers.first("content-length") == "\(bytes.count)")
        #expect(arrival?.pieces.map(\.size) == [bytes.count])
    }
}
