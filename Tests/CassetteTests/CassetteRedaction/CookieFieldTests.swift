@testable import CassetteRedaction
import Testing

@Suite struct CookieFieldTests {
    private func values(_ text: String, isSet: Bool) -> [String] {
        Array(text.utf8).withUnsafeBytes { bytes in
            CookieField.findings(in: bytes, 0..<bytes.count, isSet: isSet).map { String(decoding: $0.secret, as: UTF8.self) }
        }
    }

    @Test func valuesAreSecretsAndNamesAreNot() {
        #expect(self.values("a=1; b=\"x=y\";c=; {{cookie:1}}; lone", isSet: false) == ["1", "x=y", "lone"])
        #expect(self.values("a=1; Path=/; Expires=Wed", isSet: true) == ["1"])
    }

    @Test(arguments: [
        ("lang=en-US", true), ("theme=dark; Path=/", true), ("cart=3", true), ("consent=true", true), ("tz=Europe%2FBerlin", true),
        ("prefs=%7B%22theme%22%3A%22dark%22%2C%22size%22%3A12%7D", true), ("seen=[1,2,3]", true),
        ("dpr=1.5", true), ("offset=-60", true), ("window=1920x1080", true), ("city=%EC%84%9C%EC%9A%B8", true), ("a=two+columns", true),
        ("tags=red,blue", true), ("theme=dark2", true), ("color=%23ff8800", true), ("prefs=lang:de", true), ("day=2026-11-21", true),
        ("cart=%5B%7B%22id%22%3A1%2C%22n%22%3A2%7D%5D", true), ("cart=[{\"sku\":\"A1\",\"qty\":2}]", true), ("cart=3%3A12%2C5%3A1", true),
        ("prefs={\"theme\":\"dark\",\"sidebar\":{\"open\":true,\"w\":240}}", true), ("pw=abc", false), ("prefs={\"pw\":\"abc\"}", false),
        ("theme=ab12", false), ("color=#ff88001", false), ("seen=1234567.8", false), ("tags=a1,b2", false),
        // HttpOnly cookies, identifiers of people, and long or random values count as secrets when in doubt.
        ("lang=en; HttpOnly", false), ("lang=en; path=/; httponly", false), ("session=on", false), ("uid=42", false), ("userId=7", false),
        ("remember_me=1", false), ("theme=a1b2c3d4e5", false), ("cart=1732720000", false), ("prefs={\"id\":\"x\"}", false),
        ("prefs={\"theme\":\"a1b2c3\"}", false), ("x=abcdefghijklmnopqrstuvwxyz", false),
    ])
    func preferencesStay(text: String, stays: Bool) {
        let lines = ["Set-Cookie: \(text)"]
        #expect((RedactionFixtures.lines(lines) == lines) == stays, "\(RedactionFixtures.lines(lines))")
    }

    @Test func aCookieThatScriptsMayNotReadIsASecretInRequestsToo() {
        let vault = SecretVault()
        _ = RedactionFixtures.lines(["Set-Cookie: variant=blue; HttpOnly"], vault: vault)
        #expect(
            RedactionFixtures.lines(["Cookie: variant=blue; lang=en"], vault: vault) == ["Cookie: variant={{cookie:1}}; lang=en"])
    }

    @Test func rulesNameCookies() throws {
        let rules = try RedactionRules(rules: ["cookie:lang"], keep: ["cookie:sid"])
        #expect(
            RedactionFixtures.lines(["Cookie: lang=en; sid=a1b2c3d4e5f6; theme=dark; other=a1b2c3d4e5f7"], rules: rules)
                == ["Cookie: lang={{cookie:1}}; sid=a1b2c3d4e5f6; theme=dark; other={{cookie:2}}"])
        #expect(
            RedactionFixtures.body(#"{"cookie":"lang=en; sid=a1b2c3d4e5f6"}"#, rules: rules)
                == #"{"cookie":"lang={{cookie:1}}; sid=a1b2c3d4e5f6"}"#)
    }
}
