import CassetteModel
import CassetteRedaction
import Testing

/// Secrets of forms with repeated names, and of header fields with customer keys.
@Suite struct RepeatedFormNamesTests {
    @Test(arguments: [
        "password[]", "password[0]", "password[first]", "registration[plainPassword][first]", "user[password][]",
        "user%5Bpassword%5D%5B%5D",
    ])
    func anElementOfASecretsNameIsASecret(name: String) {
        let form = Array("a=1&\(name)=kT7pQ2xV9mZ4w&b=2".utf8)
        let redacted = String(decoding: RedactionFixtures.bytes(form, ["Content-Type: application/x-www-form-urlencoded"]), as: UTF8.self)
        #expect(!redacted.contains("kT7pQ2xV9mZ4w") && redacted.hasPrefix("a=1&\(name)=") && redacted.hasSuffix("&b=2"), "\(redacted)")
    }

    @Test(arguments: ["first[]", "[0]", "[]", "password[hint]", "a[first]"])
    func otherNamesWithBracketsStay(name: String) {
        let form = Array("\(name)=kT7pQ2xV9mZ4w".utf8)
        #expect(RedactionFixtures.bytes(form, ["Content-Type: application/x-www-form-urlencoded"]) == form)
    }

    @Test(arguments: [
        "x-amz-server-side-encryption-customer-key", "x-amz-copy-source-server-side-encryption-customer-key", "x-goog-encryption-key",
        "x-ms-encryption-key", "X-Registry-Auth", "X-Registry-Config", "X-Telegram-Bot-Api-Secret-Token", "X-Emby-Token",
        "CB-ACCESS-PASSPHRASE",
    ])
    func keysAndTokensOfVendorsAreSecrets(name: String) {
        var request = RecordedRequest(
            method: "GET", url: "http://h/", headers: HeaderFields(["\(name): MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI="]))
        var body: WireBody?
        _ = Redactor().redact(request: &request, body: &body)
        #expect(request.headers.value(at: 0).hasPrefix("{{"), "\(request.headers.value(at: 0))")
    }
}
