@testable import CassetteRedaction
import TapeBytes
import Testing

@Suite struct CredentialsFieldTests {
    private func redacted(_ value: String) -> String {
        String(RedactionFixtures.lines(["Authorization: " + value])[0].dropFirst("Authorization: ".count))
    }

    @Test(arguments: [
        ("Bearer {{authorization:1}}", "Bearer {{authorization:1}}"), ("Token token=\"abc123def\"", "Token token=\"{{authorization:1}}\""),
        (
            "Digest username=\"anna\", realm=\"r\", nonce=\"n\", uri=\"/\", response=\"6629fae49393a05397450978507c4ef1\"",
            "Digest username=\"anna\", realm=\"r\", nonce=\"n\", uri=\"/\", response=\"{{authorization:1}}\""
        ),
        (
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20260101/us-east-1/s3/aws4_request, SignedHeaders=host;range, Signature=fe5f80f77d5fa3beca038a248ff027d0445342fe2855ddc963176630326f1024",
            "AWS4-HMAC-SHA256 Credential={{authorization:1}}/20260101/us-east-1/s3/aws4_request, SignedHeaders=host;range, Signature={{authorization:2}}"
        ),
        ("Negotiate YIIZsQYGKwYBBQUCoIIZpTCC==", "Negotiate {{authorization:1}}"),
    ])
    func theSchemeDecidesWhichPartIsSecret(value: String, redacted: String) {
        #expect(self.redacted(value) == redacted)
    }

    @Test func thePasswordOfBasicIsASecretOfItsOwn() {
        let vault = SecretVault()
        _ = RedactionFixtures.lines(["Authorization: Basic YW5uYTpodW50ZXIyeA=="], vault: vault)
        #expect(RedactionFixtures.body("anna says hunter2x", type: "text/plain", vault: vault) == "anna says {{password:1}}")
    }
}

/// Values that a client derives from a token that it received.
@Suite struct CodedCredentialsTests {
    private func base64(_ text: String) -> String { String(decoding: SecretCorpus.base64(Array(text.utf8)), as: UTF8.self) }

    /// A vault that knows a token from a response.
    private func vault(_ token: String = "tk_9f8e7d6c5b4a39281706") -> SecretVault {
        let vault = SecretVault()
        #expect(RedactionFixtures.body("{\"token\":\"\(token)\"}", vault: vault) == "{\"token\":\"{{token:1}}\"}")
        return vault
    }

    @Test(arguments: [
        ("oauth2:TOKEN", "{{authorization:1}}:{{token:1}}"), ("TOKEN:", "{{token:1}}:"),
        ("TOKEN:x-oauth-basic", "{{token:1}}:{{password:1}}"), (":TOKEN", ":{{token:1}}"), ("TOKEN", "{{token:1}}"),
        ("oauth2:{{token:7}}", "{{authorization:1}}:{{token:7}}"),
        ("{\"username\":\"anna\",\"password\":\"TOKEN\"}", "{\"username\":\"anna\",\"password\":\"{{token:1}}\"}"),
        ("{\"identitytoken\":\"{{token:7}}\"}", "{\"identitytoken\":\"{{token:7}}\"}"),
    ])
    func credentialsKeepThePlaceholderOfATokenThatWasGiven(text: String, redacted: String) {
        let coded = self.base64(text.replacing("TOKEN", with: "tk_9f8e7d6c5b4a39281706"))
        let lines = RedactionFixtures.lines(["Authorization: Basic \(coded)"], vault: self.vault())
        #expect(lines == ["Authorization: Basic \(self.base64(redacted))"])
        let registry = RedactionFixtures.lines(["X-Registry-Auth: \(coded)"], vault: self.vault())
        #expect(registry == ["X-Registry-Auth: \(self.base64(redacted))"])
        let body = RedactionFixtures.body("{\"auth\":\"\(coded)\"}", vault: self.vault())
        #expect(body == "{\"auth\":\"\(self.base64(redacted))\"}")
    }

    /// In the form of requests-ntlm and curl: the header, and then the bytes to which its fields refer.
    private func login(_ user: String, response: [UInt8], workstation: String, flags: [UInt8] = [5, 2, 0x88, 0xa2]) -> String {
        let wide = { (text: String) in text.utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] } }
        let fields = [Array(repeating: 0, count: 24), response, wide("LAB"), wide(user), wide(workstation), Array(response.prefix(16))]
        var message = Array("NTLMSSP\0".utf8) + [3, 0, 0, 0]
        var offset = 88
        for field in fields {
            let length = [UInt8(field.count & 0xff), UInt8(field.count >> 8)]
            message += length + length + [UInt8(offset & 0xff), UInt8(offset >> 8), 0, 0]
            offset += field.count
        }
        message += flags + [6, 1, 0, 0, 0, 0, 0, 15] + Array(repeating: 9, count: 16) + fields.joined()
        return String(decoding: SecretCorpus.base64(message), as: UTF8.self)
    }

    @Test func aLoginByNTLMKeepsItsUserAndNothingThatProvesIt() throws {
        func redacted(_ login: String) -> String { RedactionFixtures.lines(["Authorization: NTLM \(login)"])[0] }
        let proof = Array("the proof of a login, which no one may have".utf8)
        let anna = redacted(self.login("anna", response: proof, workstation: "PC1"))
        #expect(anna == redacted(self.login("anna", response: Array(proof.reversed()), workstation: "")))
        #expect(anna != redacted(self.login("bob", response: proof, workstation: "PC1")))
        let kept = try #require(Base64.decode(Array(anna.utf8.dropFirst("Authorization: NTLM ".utf8.count))))
        #expect(kept.count == 64 + 2 * 3 + 2 * 4 && kept.suffix(14).elementsEqual("L\0A\0B\0a\0n\0n\0a\0".utf8))
        // A message that refers to missing bytes, and a truncated one, are secrets as a whole.
        for broken in ["TlRMTVNTUAADAAAA", String(self.login("anna", response: proof, workstation: "PC1").prefix(96))] {
            #expect(redacted(broken) == "Authorization: NTLM {{authorization:1}}")
        }
    }

    @Test(arguments: ["anna:hunter2x", "tk_9f8e7d6c5b4a39281706x:y", "{\"username\":\"anna\"}"])
    func otherCredentialsAreReplacedAsAWhole(text: String) {
        let lines = RedactionFixtures.lines(["Authorization: Basic \(self.base64(text))"], vault: SecretVault())
        #expect(lines == ["Authorization: Basic {{authorization:1}}"])
    }

    @Test func equalCredentialsStayEqualAcrossOtherSecrets() {
        let vault = SecretVault()
        let line = "Authorization: Basic \(self.base64("anna:hunter2x"))"
        for _ in 0..<2 {
            #expect(RedactionFixtures.lines([line], vault: vault) == ["Authorization: Basic {{authorization:1}}"])
        }
    }
}
