import Testing

@testable import CassetteRedaction

/// `Basic` in any text, a user and a password in calls and commands, and settings in base64.
@Suite struct CredentialPlacesTests {
    private func base64(_ text: String) -> String { String(decoding: SecretCorpus.base64(Array(text.utf8)), as: UTF8.self) }

    @Test(arguments: ["bob:h7nter2Xq", "bob@example.com:h7nter2Xq!", "ädä:h7nter2Xq", ":h7nter2Xq", "h7nter2Xq:", "b:c:h7nter2Xq"])
    func basicInAnyText(pair: String) {
        let coded = self.base64(pair)
        let texts = [
            ("application/json", #"{"d":"Basic \#(coded)","n":1}"#), ("text/plain", "sent Basic \(coded) to the proxy\n"),
            ("text/plain", "basic \(coded)"), ("application/xml", "<a>Basic \(coded)</a>"), ("text/plain", "x='Basic \(coded)'"),
            ("application/json", #"{"a":"{\"d\":\"Basic \#(coded)\"}"}"#),
        ]
        for (type, text) in texts {
            let redacted = RedactionFixtures.body(text, type: type)
            #expect(redacted == text.replacing(coded, with: "{{authorization:1}}"), "\(redacted)")
        }
    }

    @Test func thePasswordOfBasicIsFoundElsewhere() {
        let text = #"{"d":"Basic \#(self.base64("bob:h7nter2Xq"))","note":"h7nter2Xq"}"#
        #expect(RedactionFixtures.body(text) == #"{"d":"Basic {{authorization:1}}","note":"{{password:1}}"}"#)
    }

    @Test(arguments: [
        "Basic plan", "Basic information about tokens", "our Basic subscription: 12 EUR", "Basic dictionary", "Visual Basic programs",
        "basic dGhlIHNhbXBsZSBub25jZQ==", "Basic QUJDREVGRw", "\"Basic\": \"dXNlcjpwYXNz\"", "Basic realm=\"x\"", "Basic 12345678",
        "the basic understanding of authentication",
    ])
    func otherWordsAfterBasicStay(text: String) { HiddenPlace.stays(text, type: "text/plain") }

    @Test(arguments: [
        "USER=bob\nDB_PASSWORD=h7nter2Xq\n", "API_TOKEN=h7nter2Xq\n", "AWS_SECRET_ACCESS_KEY=h7nter2Xq\nX=1", "A_API_KEY=h7nter2Xq\n",
        "B_API_KEY=h7nter2Xq", "CD_API_KEY=h7nter2Xq", "Authorization: Bearer h7nter2XqRz41",
        "GET / HTTP/1.1\r\nAuthorization: Bearer h7nter2XqRz41\r\n",
        "x: yz\nAuthorization: Bearer h7nter2XqRz41", "x: y\r\nAuthorization: Bearer h7nter2XqRz41", "SECRET_KEY=h7nter2Xq\n",
    ])
    func settingsInBase64(text: String) {
        for body in [#"{"content":"\#(self.base64(text))","encoding":"base64"}"#] {
            let redacted = RedactionFixtures.body(body)
            let coded = Array(redacted.utf8.dropFirst(#"{"content":""#.utf8.count).prefix { $0 != UInt8(ascii: "\"") })
            let content = String(decoding: coded.withUnsafeBytes { Base64Text($0[...])?.content ?? [] }, as: UTF8.self)
            #expect(content.contains("{{") && !content.contains("h7nter2Xq"), "\(content) \(redacted)")
            #expect(RedactionFixtures.body(redacted) == redacted)
        }
    }

    @Test func settingsInBase64WithoutASecretStay() {
        for text in ["PASSWORD_FILE=/run/secrets/db\n", "MAX_TOKENS=4096\nKEYS=12\n", "SECRETS: inherit\n", "Authorization: none\n"] {
            HiddenPlace.stays(#"{"content":"\#(self.base64(text))"}"#, type: "application/json")
        }
    }

    @Test(arguments: [
        "requests.get(u, auth=('bob', 'h7nter2Xq'))", "auth = (\"bob\", \"h7nter2Xq\")", "auth=HTTPBasicAuth('bob', 'h7nter2Xq')",
        "aiohttp.BasicAuth('bob','h7nter2Xq')", "HTTPDigestAuth(\"bob\", \"h7nter2Xq\")", "request.auth('bob', 'h7nter2Xq')",
        "curl -u h7nter2Xq: https://api.example.com", "curl https://api.example.com --user 'h7nter2Xq:'",
        "curl --header \"X-Auth-Token:h7nter2Xq\" x", "curl -H 'X-Acme-Token: h7nter2Xq' x",
    ])
    func userAndPassword(text: String) { HiddenPlace.check(text, type: "text/plain") }

    @Test(arguments: [
        "requests.get(u, auth=('user', 'pass'))", "auth=(user, password1)", "BasicAuth('username', 'password')", "oauth('a', 'b')",
        "curl -u ada: https://example.com", "curl -u user1: https://example.com", "auth = (\"none\", 3)",
    ])
    func standInsStay(text: String) { HiddenPlace.stays(text, type: "text/plain") }
}
