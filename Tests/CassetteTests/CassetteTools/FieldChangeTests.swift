@testable import CassetteTools
import Testing

@Suite struct FieldChangeTests {
    @Test func secretsAreNotKept() {
        #expect(FieldChange("header:cookie", "a=1", "a=2", isSecret: true) == FieldChange("header:cookie", "x", "y", isSecret: true))
        #expect(FieldChange("json:/a", "\"eyJhbGciOiJIUzI1NiJ9.e30\"", nil).old == FieldChange.hidden)
        #expect(FieldChange("json:/a", nil, "1").old == nil)
    }

    @Test func longValuesAreCut() {
        #expect(
            FieldChange("body", String(repeating: "é", count: 120), String(repeating: "é", count: 121)).new == String(
                repeating: "é", count: 119) + "…")
        #expect(FieldChange("body", String(repeating: "é", count: 120), nil).old?.count == 120)
    }
}

@Suite struct SecretShapesTests {
    @Test(arguments: [
        "Authorization", "Set-Cookie", "access_token", "X-Api-Key", "client_secret", "Password", "X-Amz-Signature", "sessionId",
    ])
    func namesOfSecretsAreKnown(name: String) { #expect(SecretShapes.isSecretName(name)) }

    @Test(arguments: ["Accept", "etag", "name", "author", "path"])
    func otherNamesAreNot(name: String) { #expect(!SecretShapes.isSecretName(name)) }

    @Test(arguments: [
        "eyJhbGciOiJIUzI1NiJ9.e30.x", "AKIAIOSFODNN7EXAMPLE", "x ghp_0123456789abcdefghij", "xoxb-1", "sk_live_x",
        "-----BEGIN RSA PRIVATE KEY-----",
        "https://u:p@h/", "Bearer abc",
    ])
    func shapesOfSecretsAreKnown(value: String) { #expect(SecretShapes.looksSecret(value)) }

    @Test(arguments: ["", "hello", "2026-11-21", "http://a/b@c", "Bearer {{authorization:1}}", "5f2c81ab-0000-4000-8000-000000000000"])
    func otherValuesAreNot(value: String) { #expect(!SecretShapes.looksSecret(value)) }

    @Test(arguments: [
        ("http://a/b", "http://a/b"), ("http://u:p@a/b?x=1", "http://(hidden)@a/b?x=1"),
        ("http://a/?token=x&y=2&z", "http://a/?token=(hidden)&y=2&z"),
        ("http://a/?q=eyJhbGciOiJIUzI1NiJ9.e30", "http://a/?q=(hidden)"),
    ])
    func aURLIsShownWithoutThem(url: String, shown: String) { #expect(SecretShapes.shownURL(url) == shown) }

    @Test func anAccentAfterAMarkHidesNothing() {
        #expect(!SecretShapes.shownURL("http://a.test/?\u{301}=1&token=\u{301}hunter2").contains("hunter2"))
        #expect(!SecretShapes.shownURL("http://a.test/?\u{301}&token=hunter2").contains("hunter2"))
    }
}
