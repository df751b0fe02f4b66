@testable import CassetteRedaction
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
    func schemesSayWhatIsSecret(value: String, redacted: String) {
        #expect(self.redacted(value) == redacted)
    }

    @Test func thePasswordOfBasicIsASecretOfItsOwn() {
        let vault = SecretVault()
        _ = RedactionFixtures.lines(["Authorization: Basic YW5uYTpodW50ZXIyeA=="], vault: vault)
        #expect(RedactionFixtures.body("anna says hunter2x", type: "text/plain", vault: vault) == "anna says {{password:1}}")
    }
}
