import CassetteModel
import TapeBytes
import Testing

@testable import CassetteRedaction

/// Secrets under further names, and in answers of stores of secrets.
@Suite struct FurtherNamesTests {
    private static let secret = "Q7ls3O8ZfQ1Tqw9BCKfDzx"

    @Test(arguments: [
        "contraseña", "senha", "parola", "пароль", "Пароль", "密码", "密碼", "비밀번호", "パスワード", "hasło", "motDePasse", "heslo", "haslo",
        "session_id", "runners_token", "join_token", "bot_token", "stream_key", "rtmp_key", "license_key", "validationKey", "seed_phrase",
        "totp_seed", "wifi_psk", "passwordHash", "security_answer", "mfa_token", "mfaToken", "link_token", "remember_token", "ssoToken",
        "bootstrapToken", "enrollment_token", "secret_id", "secret_key_base", "SECRET_KEY_BASE", "recovery_code", "oob_code",
        "transactionKey", "machine_key", "unseal_key", "xprv", "hmac", "session_data", "sessionHandle", "auth_ticket", "api_hash",
        "password_digest", "email_otp",
    ])
    func memberIsReplaced(name: String) {
        let found = RedactionFixtures.body("{\"a\":1,\"\(name)\": \"\(Self.secret)\",\"b\":2}", type: "application/json")
        #expect(!found.contains(Self.secret) && found.contains("{{") && found.hasSuffix(",\"b\":2}"), "\(found)")
    }

    /// In XML and in lines of settings as in JSON.
    @Test(arguments: ["transactionKey", "recovery_code", "shared_key"])
    func elementsAndSettingsAreReplaced(name: String) {
        for text in ["<a><\(name)>\(Self.secret)</\(name)></a>", "A=1\n\(name.uppercased())=\(Self.secret)\n"] {
            let found = RedactionFixtures.body(text, type: text.first == "<" ? "application/xml" : "text/plain")
            #expect(!found.contains(Self.secret) && found.contains("{{"), "\(found)")
        }
    }

    /// Names of positions in lists and the like, and values that are words.
    @Test(arguments: [
        "next_page_token", "syncToken", "continuation_token", "eos_token", "startingToken", "transaction_token", "max_token",
        "request_token_x",
    ]) func positionsStay(name: String) {
        let text = #"{"\#(name)":"\#(Self.secret)"}"#
        #expect(RedactionFixtures.body(text, type: "application/json") == text)
    }

    @Test(arguments: [
        #"{"keys":["@"],"keys_base64":["@"],"root_token":"hvs.@"}"#,
        #"{"JoinTokens":{"Worker":"SWMTKN-1-@@-@"}}"#, #"{"ephemeralKey":"ek_test_@@"}"#,
    ]) func documentsOfVendorsAreReplaced(text: String) {
        let found = RedactionFixtures.body(text.replacing("@", with: Self.secret), type: "application/json")
        #expect(!found.contains(Self.secret), "\(found)")
    }

    /// A password that a person chose is short.
    @Test(arguments: ["contraseña", "senha", "parola", "пароль", "密码", "비밀번호", "パスワード"])
    func shortPasswordIsReplaced(name: String) {
        #expect(RedactionFixtures.body("{\"\(name)\":\"geheim7!\"}", type: "application/json") == "{\"\(name)\":\"{{password:1}}\"}")
    }

    @Test func hashOfAPasswordIsReplaced() {
        #expect(
            RedactionFixtures.body(#"{"password_hash":"$2b$12$Q7REgeBNqEl1NipDjpRYHAQ7REgeBNqEl1NipDj"}"#, type: "application/json")
                == #"{"password_hash":"{{password:1}}"}"#)
    }

    @Test(arguments: [
        (#"{"value":"@","id":"https://v.vault.azure.net/secrets/db/123","attributes":{"enabled":true}}"#, "application/json"),
        (#"{"data":{"data":{"foo":"@"},"metadata":{"created_time":"2024","version":1}}}"#, "application/json"),
        (#"{"fields":[{"designation":"password","type":"P","value":"@"}]}"#, "application/json"),
        ("---\n:password: @\n:user: bob\n", "application/yaml"), ("---\n- a: 1\n  :api_key: @\n", "text/plain"),
        ("<div data-token=\"@\" id=\"a\"></div>", "text/html"), ("<div data-csrf-token='@'></div>", "text/html"),
        ("Windows Registry Editor Version 5.00\n\n[HKEY_X]\n\"DefaultPassword\"=\"@\"\n", "text/plain"),
        ("Login { user: \"bob\", password: Some(\"@\") }\n", "text/plain"),
        ("db: {\n  user: ada,\n  password: @,\n}\n", "application/yaml"),
        ("INFO: rotating api_key: old -> @\n", "text/plain"), ("- name: password\n  values:\n  - @\n", "application/yaml"),
        ("- name: password\n  values: [@]\n", "application/yaml"),
        ("<machineKey validationKey=\"@\" decryptionKey=\"@\"/>", "application/xml"),
    ])
    func placeIsFound(text: String, type: String) {
        let body = text.replacing("@", with: Self.secret)
        let found = RedactionFixtures.body(body, type: type)
        #expect(!found.contains(Self.secret), "\(found)")
        #expect(found.replacing(#/\{\{[a-z-]+:1\}\}/#, with: "@") == text, "\(found)")
    }

    @Test func secretManagerOfGoogleKeepsItsCoding() {
        let coded = String(decoding: SecretCorpus.base64(Array(Self.secret.utf8)), as: UTF8.self)
        let text = { (data: String) in #"{"name":"projects/1/secrets/db/versions/1","payload":{"data":"\#(data)"}}"# }
        let placeholder = String(decoding: SecretCorpus.base64(Array("{{secret:1}}".utf8)), as: UTF8.self)
        #expect(RedactionFixtures.body(text(coded), type: "application/json") == text(placeholder))
    }

    @Test(arguments: [
        #"{"data":{"data":{"title":"Alpha7"},"metadata":{"page":1}}}"#, #"{"value":"Alpha7","id":"https://a.test/secrets/db"}"#,
        #"{"payload":{"data":"QWxwaGE3"},"name":"projects/1/topics/a"}"#, #"{"user_id":"aB3dE6gH9kL2mN5pQ8rS","url":"/x"}"#,
        #"{"license_key":"mit","storage_key":"settings"}"#,
    ])
    func otherDataStays(text: String) { #expect(RedactionFixtures.body(text, type: "application/json") == text) }

    @Test(arguments: [false, true]) func jsonInHexIsSearched(isUpper: Bool) {
        func coded(_ text: String) -> String {
            let hex = Hex.encode(Array(text.utf8))
            return "{\"blob\":\"\(isUpper ? hex.uppercased() : hex)\"}"
        }
        #expect(
            RedactionFixtures.body(coded(#"{"password": "\#(Self.secret)"}"#), type: "application/json")
                == coded(#"{"password": "{{password:1}}"}"#))
        let plain = coded(#"{"name": "a", "number": 12}"#)
        #expect(RedactionFixtures.body(plain, type: "application/json") == plain)
    }

    @Test func textOfGRPCWebIsSearched() throws {
        func frames(_ text: String) -> [UInt8] {
            [0, 0, 0, 0, UInt8(text.utf8.count + 2), 0x0A, UInt8(text.utf8.count)] + Array(text.utf8)
        }
        let first = SecretCorpus.base64(frames("Bearer \(Self.secret)"))
        let trailers = Array("grpc-status:0\r\n".utf8)
        let second = SecretCorpus.base64([0x80, 0, 0, 0, UInt8(trailers.count)] + trailers)
        let found = RedactionFixtures.body(String(decoding: first + second, as: UTF8.self), type: "application/grpc-web-text+proto")
        let bytes = try #require(Base64.decode(Array(found.utf8)))
        #expect(bytes == frames("Bearer {{authorization:1}}") + [0x80, 0, 0, 0, UInt8(trailers.count)] + trailers)
    }

    @Test(arguments: ["Authentication-Info", "Proxy-Authentication-Info"]) func proofOfAServerIsReplaced(name: String) {
        #expect(
            RedactionFixtures.lines([
                "\(name): nextnonce=\"n1\", rspauth=\"6629fae49393a05397450978507c4ef1\", cnonce=\"ab12\", nc=00000001, qop=auth"
            ])
                == ["\(name): nextnonce=\"n1\", rspauth=\"{{authorization:1}}\", cnonce=\"{{authorization:2}}\", nc=00000001, qop=auth"])
        #expect(
            RedactionFixtures.lines(["\(name): sid=AAAABBBB, data=dj1ybUY5cHFWOFM3"])
                == ["\(name): sid={{authorization:1}}, data={{authorization:2}}"])
    }
}
