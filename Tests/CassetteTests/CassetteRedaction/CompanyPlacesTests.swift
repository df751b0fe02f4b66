import Testing

@testable import CassetteFormat
@testable import CassetteModel
@testable import CassetteRedaction
@testable import TapeBytes

/// Secrets that the members next to them reveal, and places of single programs and formats.
@Suite struct CompanyPlacesTests {
    @Test(arguments: [
        #"{"token":{"id":"h7nter2XqLm94vTz8Kd1"}}"#,
        #"{"access":{"token":{"expires":"2026-01-01T00:00:00Z","tenant":{"id":"x"},"id":"h7nter2XqLm94vTz8Kd1"},"user":{"id":"ada"}}}"#,
        #"{"session":{"id":"h7nter2XqLm94vTz8Kd1","user":"ada"}}"#,
        #"{"Name":"db","SecretBinary":"h7nter2XqLm94vTz8Kd1/w=="}"#,
        #"{"CiphertextBlob":"AQIDAHg=","KeyId":"k","Plaintext":"h7nter2XqLm94vTz8Kd1"}"#,
        #"{"KeyId":"k","Plaintext":"h7nter2XqLm94vTz8Kd1","EncryptionAlgorithm":"SYMMETRIC_DEFAULT"}"#,
        #"{"Parameters":[{"ParameterKey":"DBPassword","ParameterValue":"h7nter2Xq"}]}"#,
        #"{"keys":[{"keyName":"key1","value":"h7nter2XqLm94vTz8Kd1==","permissions":"FULL"}]}"#,
        #"{"keys":[{"keyName":"key1","value":null},{"value":"h7nter2XqLm94vTz8Kd1==","keyName":"key2"}]}"#,
        #"{"primaryKey":"h7nter2XqLm94vTz8Kd1","secondaryKey":"a1"}"#, #"{"primaryKey":"a1","secondaryKey":"h7nter2XqLm94vTz8Kd1"}"#,
        #"{"kty":"RSA","n":"abc","e":"AQAB","d":"h7nter2XqLm94vTz8Kd1"}"#, #"{"qi":"h7nter2XqLm94vTz8Kd1","kty":"RSA","n":"abc"}"#,
        #"{"keys":[{"kty":"oct","k":"h7nter2XqLm94vTz8Kd1","kid":"1"}]}"#,
        #"{"kty":"EC","crv":"P-256","x":"a","y":"b","key_ops":["sign"],"d":"h7nter2XqLm94vTz8Kd1"}"#,
        #"{"kty":"OKP","crv":"Ed25519","d":"h7nter2XqLm94vTz8Kd1","x":"a"}"#,
        #"{"fields":[{"id":"password","type":"CONCEALED","label":"password","value":"h7nter2Xq"}]}"#,
        #"{"dsn":"bob:h7nter2Xq@tcp(127.0.0.1:3306)/db?parseTime=true"}"#, #"{"dsn":"bob:h7nter2Xq@unix(/run/mysql.sock)/db"}"#,
        #"{"url":"https://a.test/reset?reset_password_token=h7nter2XqLm9"}"#, #"{"url":"https://a.test/join?invite_token=h7nter2XqLm9"}"#,
        #"{"url":"https://a.test/mail?x=1&email_token=h7nter2XqLm9#top"}"#,
        #"{"columns":["id","password"],"rows":[[1,"aB3dE6gH"],[2,"h7nter2Xq"]]}"#,
        #"{"data":[[1,{"a":[2]},"h7nter2Xq"]],"columns":["id","x","api_key"]}"#,
        #"{"psk":"h7nter2Xq"}"#,
    ])
    func membersNextToTheValue(text: String) {
        HiddenPlace.check(text, type: "application/json")
        HiddenPlace.check(text, type: "text/plain")
    }

    @Test(arguments: [
        #"{"token":{"id":"h7nter2XqLm94vTz8Kd1","name":"deploy"}}"#, #"{"token":{"id":"tok_1N3T00LkdIwHu7ixt44h1F8k","object":"token"}}"#,
        #"{"token":{"id":7,"tenant":{"id":"h7nter2XqLm94vTz8Kd1"}}}"#, #"{"session":{"id":"cs_test_a1h7nter2XqLm94vTz8Kd1"}}"#,
        #"{"token":{"id":"018f4c1e-7e2a-7c3b-9d1f-0a1b2c3d4e5f"}}"#, #"{"user":{"id":"h7nter2XqLm94vTz8Kd1"}}"#,
        #"{"kty":"RSA","n":"h7nter2XqLm94vTz8Kd1","e":"AQAB","kid":"h7nter2XqLm94vTz8Kd1"}"#,
        #"{"kty":"EC","crv":"P-256","x":"h7nter2XqLm94vTz8Kd1","y":"h7nter2XqLm94vTz8Kd1","k":"h7nter2XqLm94vTz8Kd1"}"#,
        #"{"primaryKey":"h7nter2XqLm94vTz8Kd1","table":"users"}"#, #"{"keys":[{"keyName":"key1","value":"FULL"}]}"#,
        #"{"keys":[{"name":"h7nter2XqLm94vTz8Kd1","value":"h7nter2XqLm94vTz8Kd1"}]}"#, #"{"Plaintext":"h7nter2XqLm94vTz8Kd1"}"#,
        #"{"CiphertextBlob":"h7nter2XqLm94vTz8Kd1","KeyId":"h7nter2XqLm94vTz8Kd1"}"#,
        #"{"ParameterKey":"InstanceType","ParameterValue":"h7nter2Xq"}"#, #"{"columns":["id","password"],"rows":[["h7nter2Xq",5]]}"#,
        #"{"columns":["id","password"],"total":["h7nter2Xq","h7nter2Xq"]}"#,
        #"{"label":"password","value":"Enter your password"}"#,
        #"{"url":"https://a.test/list?next_page_token=h7nter2XqLm9&continuation_token=h7nter2XqLm9"}"#,
        #"{"url":"https://a.test/model?eos_token=endoftext"}"#, #"{"mail":"bob:h7nter2Xq@example.com"}"#,
    ])
    func othersStay(text: String) { HiddenPlace.stays(text, type: "application/json") }

    @Test func bothAreFound() {
        #expect(
            RedactionFixtures.body(#"{"kty":"RSA","d":"h7nter2XqLm94","p":"Zq37c94Kx5cce"}"#)
                == #"{"kty":"RSA","d":"{{secret:1}}","p":"{{secret:2}}"}"#)
        let plan = "  + password = \"h7nter2Xq\"\n  ~ admin_password = \"Zq37c94Kx5cce\" -> \"Kx5cceZq37c94\"\n"
        #expect(
            RedactionFixtures.body(plan, type: "text/plain")
                == "  + password = \"{{password:1}}\"\n  ~ admin_password = \"{{password:2}}\" -> \"{{password:3}}\"\n")
    }

    @Test(arguments: [
        ("text/plain", "-password: aB3dE6gH\n+password: h7nter2Xq\n"), ("text/plain", "+DB_PASSWORD=h7nter2Xq\n"),
        ("text/plain", "password = <<EOF\nh7nter2Xq\nEOF\n"), ("text/plain", "  password = <<-EOT\n    h7nter2Xq\n  EOT\n"),
        ("text/plain", "export DB_PASSWORD=<<'E'\nh7nter2Xq\nE\n"), ("text/plain", "db.password = \\\n   h7nter2Xq\n"),
        ("text/plain", "db.password=\\\r\n\th7nter2Xq\r\n"), ("text/plain", "CONNECT\nlogin:bob\npasscode:h7nter2Xq\n\n"),
        ("text/plain", "a1 LOGIN bob h7nter2Xq\r\n"), ("text/plain", "* OK\r\nA001 LOGIN \"bob\" \"h7nter2Xq\"\r\n"),
        ("text/plain", "Connect-Thing -Password h7nter2Xq -User bob\n"), ("text/plain", "Connect -ApiKey \"h7nter2Xq\"\n"),
        ("text/plain", "set -x DB_PASSWORD h7nter2Xq\n"), ("text/plain", "set -gx API_TOKEN 'h7nter2Xq'\n"),
        ("text/plain", "network={\n ssid=\"x\"\n psk=\"h7nter2Xq\"\n}\n"), ("text/plain", "username bob password 0 h7nter2Xq\n"),
        ("text/plain", "enable password 7 h7nter2Xq\n"), ("text/plain", "line vty 0 4\n password 7 h7nter2Xq\n"),
        ("text/plain", "dsn=bob:h7nter2Xq@tcp(127.0.0.1:3306)/db\n"),
        (
            "application/xml",
            "<r><Parameter><ParameterKey>MasterPassword</ParameterKey><ParameterValue>h7nter2Xq</ParameterValue></Parameter></r>"
        ),
    ])
    func placesOfPrograms(type: String, text: String) { HiddenPlace.check(text, type: type, inJSON: false) }

    @Test(arguments: [
        "Please LOGIN to continue\n", "a1 LOGIN to the site now\n", "a = b + password: x\n", "password = <<EOF\n", "set -x h7nter2Xq1\n",
        "git log -Password\n", "the password 7 times h7nter2Xq\n", "key = \\\n next line with words\n", "a1 = 1 + token\n",
    ])
    func otherTextsStay(text: String) { HiddenPlace.stays(text, type: "text/plain") }

    /// In base64, as some APIs send compressed payloads (RFC 1950).
    @Test(arguments: [1, 6, 9]) func zlibInBase64(level: Int) throws {
        let text = Array((#"{"user":"ada","password":"h7nter2Xq"}"# + String(repeating: " ", count: 40)).utf8)
        let coded = try #require(text.withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: level), format: .zlib) })
        var base64: [UInt8] = []
        coded.withUnsafeBytes { Base64.encode($0, into: &base64) }
        let redacted = RedactionFixtures.body(#"{"payload":"\#(String(decoding: base64, as: UTF8.self))"}"#)
        #expect(redacted.hasPrefix(#"{"payload":"eJ"#) && !redacted.contains(String(decoding: base64, as: UTF8.self)))
    }
}
