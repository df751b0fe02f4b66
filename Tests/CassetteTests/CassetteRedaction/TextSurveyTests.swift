@testable import CassetteRedaction
import Testing

@Suite struct TextSurveyTests {
    private func kinds(_ text: String, isForm: Bool = false) -> [String] {
        Array(text.utf8).withUnsafeBytes { bytes in
            TextSurvey.findings(in: bytes, as: isForm ? .form : .plain).map { "\($0.kind)=\(String(decoding: $0.secret, as: UTF8.self))" }
        }
    }

    @Test(arguments: [
        (#"{"api_key" : "k1"}"#, "api-key=k1"), (#"broken "password":"a\"b", more"#, "password=a\"b"),
        ("<a:Password>x y</a:Password>", "password=x y"),
        ("GET /?token=t1&x", "token=t1"), ("<a href=\"/x?a=1&amp;token=t2\">", "token=t2"), ("redis://:pw1@h", "password=pw1"),
        ("https://ghost-token-0123456789@h/", "userinfo=ghost-token-0123456789"), (#""token":"{{token:1}}""#, nil), ("token=t1", nil),
        ("mail@example.com", nil), ("http://h/@x", nil), (#""password":"unending"#, "password=unending"),
        (#"{"grant_type":"authorization_code","code":"c0de"}"#, "code=c0de"), (#"{"error":{"code":"c0de"}}"#, nil),
        (#"{"token": ["abcdefgh12345678"]}"#, "token=abcdefgh12345678"), (#"{"password":["is too short, 8 or more"]}"#, nil),
        ("/page;jsessionid=A1B2?x=1", "session=A1B2"), ("a=1;token=e.token", nil),
        ("?signature=0123456789abcdef0&x", "signature=0123456789abcdef0"), ("?signature=short", nil),
    ])
    func findsByNamesAndLooks(text: String, found: String?) {
        #expect(self.kinds(text) == (found.map { [$0] } ?? []))
    }

    @Test func aFormBeginsWithAName() {
        #expect(self.kinds("token=t+1&a=2", isForm: true) == ["token=t 1"])
    }
}

@Suite struct PrivateKeyBlockTests {
    static let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA0Z3VS5JJcds3\nxfn/ygWyF0\n-----END RSA PRIVATE KEY-----"

    @Test func itsArmourStays() {
        #expect(
            RedactionFixtures.body(Self.key, type: "text/plain")
                == "-----BEGIN RSA PRIVATE KEY-----\n{{private-key:1}}\n-----END RSA PRIVATE KEY-----")
    }

    @Test func isOneSecretInJSONToo() {
        let vault = SecretVault()
        _ = RedactionFixtures.body(Self.key, type: "text/plain", vault: vault)
        let json = "{\"k\":\"" + Self.key.replacing("\n", with: "\\n") + "\\n\"}"
        #expect(
            RedactionFixtures.body(json, vault: vault)
                == #"{"k":"-----BEGIN RSA PRIVATE KEY-----\n{{private-key:1}}\n-----END RSA PRIVATE KEY-----\n"}"#)
    }

    @Test func aLineOfItIsFoundElsewhere() {
        let vault = SecretVault()
        _ = RedactionFixtures.body(Self.key, type: "text/plain", vault: vault)
        #expect(RedactionFixtures.body("x MIIEpAIBAAKCAQEA0Z3VS5JJcds3 y", type: "text/plain", vault: vault) == "x {{private-key:1}} y")
    }

    @Test func publicKeysAreNoSecrets() {
        Array("-----BEGIN PUBLIC KEY-----\nMIIEpAIBAAKCAQEA0Z3VS5JJcds3\n-----END".utf8).withUnsafeBytes {
            #expect(PrivateKeyBlock($0, beginAt: 5, limit: 1000) == nil)
        }
    }

    @Test func inAFormItIsTheSameSecret() {
        let vault = SecretVault()
        _ = RedactionFixtures.body(Self.key, type: "text/plain", vault: vault)
        let form = "k=" + Self.key.replacing("\n", with: "%0A").replacing(" ", with: "+").replacing("/", with: "%2F") + "&x=1"
        let redacted = RedactionFixtures.body(form, type: "application/x-www-form-urlencoded", vault: vault)
        #expect(
            redacted
                == "k=-----BEGIN+RSA+PRIVATE+KEY-----%0A%7B%7Bprivate-key%3A1%7D%7D%0A-----END+RSA+PRIVATE+KEY-----&x=1")
    }
}

@Suite struct TextSurveyShapesTests {
    private func kinds(_ text: String) -> [String] {
        Array(text.utf8).withUnsafeBytes { bytes in
            TextSurvey.findings(in: bytes).map { "\($0.kind)=\(String(decoding: $0.secret, as: UTF8.self))" }
        }
    }

    @Test(arguments: [
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "jwt=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"), ("eyJhbGciOiJIUzI1NiJ9.only", nil),
        ("xoxd-Ab%2Bc0123456789", "slack-token=xoxd-Ab%2Bc0123456789"),
        ("1//0gdEfGhIjKlMnOpQrStUvWxYz0123456789", "google-token=1//0gdEfGhIjKlMnOpQrStUvWxYz0123456789"),
        ("ca: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJJakFOQmdrcWhraUc5dzBCQVFFRkFBT0NBUThB", nil),
        (
            "data: LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1JSUJJakFOQmdrcWhraUc5dzBCQVFFRkFBT0NBUThB",
            "private-key=LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1JSUJJakFOQmdrcWhraUc5dzBCQVFFRkFBT0NBUThB"
        ),
    ])
    func secretsAreFoundByTheirShape(text: String, expected: String?) {
        #expect(self.kinds(text) == [expected].compactMap { $0 })
    }

    @Test func theSecretKeyNextToAKeyIDIsFound() {
        let text = "id AKIAIOSFODNN7EXAMPLE key wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY sha da39a3ee5e6b4b0d3255bfef95601890afd80709"
        #expect(self.kinds(text) == ["aws-key=AKIAIOSFODNN7EXAMPLE", "aws-secret=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"])
    }
}
