import TapeTestSupport
import Testing

@testable import CassetteRedaction

/// Texts without secrets that look as if they had some.
@Suite struct NoFalseAlarmTests {
    @Test(arguments: [
        "# Tokens\n\nSet your password with `--password`, or the token: see https://example.com/docs?page=2&sort=key. The secret is to keep it simple.\n",
        "Use `Authorization: Bearer <token>`; AKIA is a prefix, ghp_ too, and sk_live_ and eyJ as well. mail@example.com, a@b: c://d",
        "commit da39a3ee5e6b4b0d3255bfef95601890afd80709 tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904 3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        "{\"token_type\":\"Bearer\",\"expires_in\":3600,\"code\":\"E_AUTH\",\"key\":\"name\",\"nextPageToken\":\"CAUQAA\",\"tokens\":12,\"password_required\":true}",
        "-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n-----END CERTIFICATE-----\n",
        "<form action=\"/login\"><input type=\"password\" name=\"password\"><input name=\"token\"></form>",
        "https://example.com/?code=200&error_code=7&sort=desc&session=on&auth=none&sig=no",
        "https://example.com/price?token=USDC&otp=on", "https://example.com/price?token=DAI", "{\"token\":\" wor1d\"}",
        "{\"token\":\"BTC-USDT\"}", "{\"token\":\"2024-05-06T07:08:09Z\"}",
        "{\"token\":\"\\n\",\"logprob\":-1,\"bytes\":[10]}", "{\"token\":\"<|endoftext|>\"}", "{\"token\":\"[UNK]\"}",
        "{\"token\":\"##ing\"}",
        "{\"token\":\"▁the\"}", "{\"token\":\"en-US\"}", "{\"token\":\"image/png\"}",
        "{\"token\":\"#/components/schemas/Token2\"}", "{\"token\":\"<your-token>\"}", "{\"token\":\"string(64)\"}",
        "{\"token\":\"required|string\"}",
        "o.password=i.value1;o.user=n.value}", "self.password=self._p1;self.token=self._t2", "h.secret=0;h.key=1}",
        "secret=cfg.k8s.name;x=1", "if(x){token=tokens[i1];pass=2}", "a.pwd=1;b.pwd=0}", "o.password=i[1];o.user=1}",
        "git+ssh://git@github.com/u/r.git", "ftp://anonymous@a.test/", "postgres://user@localhost/db",
        "Use --username and --password options; the --token flag; --password VALUE", "the --api-key is required",
        "{\"credential\":\"public-key\"}", "{\"password\":\"is too short (minimum is 8 characters)\"}",
        "{\"password\":\"must be at least 8 characters\"}",
        "{\"password\":\"<redacted>\"}", "{\"password\":\"[FILTERED]\"}", "{\"api_key\":\"REDACTED\"}",
    ])
    func proseAndNumbersStay(text: String) {
        #expect(RedactionFixtures.body(text, type: "text/plain") == text)
        #expect(RedactionFixtures.body(text, type: "application/json") == text)
    }

    @Test(arguments: 0..<20) func imagesInBase64Stay(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let bytes = (0..<50_000).map { _ in UInt8.random(in: 0...255, using: &random) }
        let text = "{\"image\":\"data:image/png;base64," + String(decoding: SecretCorpus.base64(bytes), as: UTF8.self) + "\"}"
        let vault = SecretVault()
        for _ in 0..<200 { _ = vault.placeholder(for: SecretCorpus.secret(&random), kind: "token") }
        #expect(RedactionFixtures.body(text, vault: vault) == text)
        #expect(RedactionFixtures.bytes(bytes, ["Content-Type: image/png"], vault: vault) == bytes)
    }

    /// Labels of a page in other languages, which scripts and titles have as well.
    @Test(arguments: ["Kennwort*", "Clé_API", "mật_khẩu", "<b>Passwort</b>", "login-password-2"])
    func labelsStayOutsideTheirPlaces(label: String) {
        let vault = SecretVault()
        _ = RedactionFixtures.body("{\"password\":\"\(label)\",\"token\":\"\(label)\"}", vault: vault)
        let page = "<label>\(label)</label>"
        #expect(RedactionFixtures.body(page, vault: vault) == page)
    }

    @Test func wordsOfEverydayStayOutsideTheirPlaces() {
        let vault = SecretVault()
        let lines = RedactionFixtures.lines(["Cookie: lang=en; state=accepted; tz=Europe/Berlin; day=2026-11-21"], vault: vault)
        #expect(lines == ["Cookie: lang=en; state={{cookie:1}}; tz=Europe/Berlin; day=2026-11-21"])
        let text = #"{"status":"accepted","lang":"en","tz":"Europe/Berlin","day":"2026-11-21"}"#
        #expect(RedactionFixtures.body(text, vault: vault) == text)
    }

    @Test(arguments: [
        #"{"token":"USDC","otp":"on","authorization":"pending","session":"active"}"#, #"{"token":50256,"tokens":[15496,995],"token_id":7}"#,
        #"{"token":"비밀번호","api_key":"Schlüssel","csrf":"jeton d’accès"}"#,
        #"{"sid":"07/07/23/152243","token":"1.2.3","session":"2024-01-02"}"#,
        #"{"key":"uploads/2024/11/report-v2-final.pdf"}"#, #"{"password":"********","token":"xxxxxxxx"}"#,
    ])
    func ordinaryValuesUnderSecretsNamesStay(text: String) {
        #expect(RedactionFixtures.body(text) == text)
    }

    @Test func ordinaryValuesInURLsStay() {
        for url in ["http://h/?sid=07/07/23/152243", "http://h/?token=12345"] {
            #expect(RedactionFixtures.url(url) == url)
        }
        #expect(RedactionFixtures.url("http://h/?token=12345678&otp=123456") == "http://h/?token={{token:1}}&otp={{code:1}}")
    }

    /// In an S3 form, the key of an object is a path.
    @Test func theKeyOfAnUploadStays() {
        let form = "--X\r\nContent-Disposition: form-data; name=\"key\"\r\n\r\nuploads/2024/11/abc123def456/report.pdf\r\n--X--\r\n"
        #expect(RedactionFixtures.body(form, type: "multipart/form-data; boundary=X") == form)
    }
}
