import TapeBytes
import Testing

@testable import CassetteRedaction

/// Secrets in programs and their output, in SQL, in LDIF, and in base64.
@Suite struct ProgramPlacesTests {
    @Test(arguments: [
        ("text/plain", "a:2:{s:8:\"password\";s:9:\"h7nter2Xq\";s:1:\"a\";i:1;}"),
        ("application/json", "{\"s\":\"a:1:{s:8:\\\"password\\\";s:9:\\\"h7nter2Xq\\\";}\"}"),
        ("text/plain", "O:4:\"User\":1:{s:8:\"password\";s:9:\"h7nter2Xq\";}"),
        ("text/plain", "Array\n(\n    [user] => ada\n    [password] => h7nter2Xq\n)\n"),
        ("text/plain", "Array\n(\n    [api_key] => h7nter2Xq\n)\n"),
        ("text/plain", "stdClass Object ( [token] => h7nter2Xq )"),
        ("text/plain", "User Object\n(\n [password:protected] => h7nter2Xq\n [token:User:private] => h7nter2Xq\n)\n"),
        ("text/plain", "array(1) {\n  [\"password\"]=>\n  string(9) \"h7nter2Xq\"\n}\n"),
        ("text/plain", "define('DB_PASSWORD', 'h7nter2Xq');"),
        ("text/plain", "define(\"DB_PASSWORD\", \"h7nter2Xq\");"),
        ("text/plain", "define( 'AUTH_KEY',         'h7nter2Xq' );"),
        ("text/plain", "$password = 'h7nter2Xq';"),
        ("text/plain", "$config['password'] = 'h7nter2Xq';"),
        ("text/plain", "$config[\"db\"][\"password\"] = \"h7nter2Xq\";"),
        ("text/plain", "$this->password = 'h7nter2Xq';"),
        ("text/plain", "const PASSWORD = 'h7nter2Xq';"),
        ("text/plain", "'password' => 'h7nter2Xq',"),
        ("text/plain", "\"password\" => env('DB_PASSWORD', 'h7nter2Xq'),"),
        ("text/plain", "my %h = (password => 'h7nter2Xq');"),
        ("text/plain", "{:password => \"h7nter2Xq\"}"),
        ("text/plain", "{:password=>\"h7nter2Xq\", :a=>1}"),
        ("text/plain", "{\"password\"=>\"h7nter2Xq\"}"),
        ("text/plain", "{password: \"h7nter2Xq\"}"),
        ("text/plain", "Parameters: {\"user\"=>{\"password\"=>\"h7nter2Xq\"}}"),
        ("text/plain", "#<User id: 1, password: \"h7nter2Xq\">"),
        ("text/plain", "#<User @password=\"h7nter2Xq\">"),
        ("text/plain", "@password = \"h7nter2Xq\""),
        ("text/plain", "{'password': 'h7nter2Xq'}"),
        ("text/plain", "User(name='a', password='h7nter2Xq')"),
        ("text/plain", "User(name=a, password=h7nter2Xq)"),
        ("text/plain", "ENV[\"API_KEY\"] = \"h7nter2Xq\""),
        ("text/plain", "os.environ['API_KEY'] = 'h7nter2Xq'"),
        ("text/plain", "%{password: \"h7nter2Xq\"}"),
        ("text/plain", "{:password \"h7nter2Xq\"}"),
        ("text/plain", "Map(\"password\" -> \"h7nter2Xq\")"),
        ("text/plain", "map[password:h7nter2Xq user:a]"),
        ("text/plain", "{Password:h7nter2Xq User:a}"),
        ("text/plain", "&{User:a Password:h7nter2Xq}"),
        ("text/plain", "dn: cn=a\nuserPassword: h7nter2Xq\n"),
        ("text/plain", "dn: cn=a\nuserPassword: {SSHA}h7nter2Xq\n"),
        ("text/plain", "dn: cn=a\nuserPassword: {CLEAR}h7nter2Xq\n"),
        ("text/plain", "CREATE USER a IDENTIFIED BY 'h7nter2Xq';"),
        ("text/plain", "create user 'a'@'%' identified by \"h7nter2Xq\";"),
        ("text/plain", "ALTER USER a IDENTIFIED WITH mysql_native_password BY 'h7nter2Xq';"),
        ("text/plain", "ALTER USER a IDENTIFIED BY h7nter2Xq;"),
        ("text/plain", "GRANT ALL ON *.* TO a IDENTIFIED BY PASSWORD 'h7nter2Xq'"),
        ("text/plain", "CREATE ROLE a WITH LOGIN PASSWORD 'h7nter2Xq';"),
        ("text/plain", "CREATE USER a WITH ENCRYPTED PASSWORD 'h7nter2Xq';"),
        ("text/plain", "ALTER USER a PASSWORD 'h7nter2Xq'"),
        ("text/plain", "SET PASSWORD FOR a = PASSWORD('h7nter2Xq');"),
        ("text/plain", "SET PASSWORD = 'h7nter2Xq'"),
        ("text/plain", "CREATE LOGIN a WITH PASSWORD = 'h7nter2Xq';"),
        ("text/plain", "CREATE LOGIN a WITH PASSWORD=N'h7nter2Xq';"),
        ("text/plain", "CREATE USER MAPPING FOR x OPTIONS (user 'a', password 'h7nter2Xq');"),
        ("text/plain", "UPDATE users SET password = 'h7nter2Xq' WHERE id = 1"),
        ("text/plain", "UPDATE users SET password='h7nter2Xq', a=1"),
        ("application/json", "{\"sql\":\"CREATE USER a IDENTIFIED BY 'h7nter2Xq'\"}"),
        ("application/json", "{\"secret\":{\"data\":{\"a\":\"h7nter2Xq\"}}}"),
        ("application/json", "{\"secret\":{\"data\":{\"password\":\"h7nter2Xq\"}}}"),
        ("application/json", "{\"secrets\":{\"data\":{\"a\":\"h7nter2Xq\"}}}"),
        ("application/json", "{\"secret\":{\"stringData\":{\"a\":\"h7nter2Xq\"}}}"),
        ("application/json", "{\"secret\":{\"values\":[{\"k\":\"a\",\"value\":\"h7nter2Xq\"}]}}"),
        ("application/json", "{\"secret\":{\"payload\":{\"data\":\"h7nter2Xq\"}}}"),
        ("application/json", "{\"password\":{\"a\":{\"value\":\"h7nter2Xq\"}}}"),
        ("application/json", "{\"kind\":\"Secret\",\"metadata\":{\"name\":\"x\"},\"data\":{\"a\":\"h7nter2Xq\"},\"type\":\"Opaque\"}"),
        ("application/json", "{\"data\":{\"a\":\"h7nter2Xq\"},\"kind\": \"Secret\"}"),
        ("text/plain", "eyJ1c2VyIjoiYWRhIiwicGFzc3dvcmQiOiJoN250ZXIyWHEiLCJub3RlIjoi\nc29tZSB0ZXh0In0=\n"),
        ("application/json", "{\"b\":\"eyJ1c2VyIjoiYWRhIiwi\\ncGFzc3dvcmQiOiJoN250\\nZXIyWHEifQ==\"}"),
        ("application/json", "{\"b\":\"eyJ1c2VyIjoiYWRhIiwi\\r\\ncGFzc3dvcmQiOiJoN250\\r\\nZXIyWHEifQ==\"}"),
        ("text/plain", "x: eyJ1c2VyIjoiYWRhIiwi\ncGFzc3dvcmQiOiJoN250\nZXIyWHEifQ==\n"),
        ("application/json", "{\"b\":\"eyJ1c2VyIjoiYWRhIiwicGFzc3dvcmQiOiJoN250ZXIyWHEifQ\"}"),
        ("application/json", "{\"b\":\"eyJwYXNzd29yZCI6Img3bnRlcjJYcSIsImEiOiLDv8O_In0\"}"),
    ])
    func valuesOfPrograms(type: String, text: String) { HiddenPlace.check(text, type: type) }

    @Test(arguments: [
        ("text/plain", "SELECT * FROM t WHERE password IS NULL ORDER BY 'name1'"),
        ("text/plain", "GROUP BY 'token12'"),
        ("text/plain", "approved by \"committee 12b\""),
        ("application/json", "{\"secret\":{\"data\":{\"count\":\"12 items\"}}}"),
        ("application/json", "{\"secret\":{\"name\":\"db-password-1\",\"createdAt\":\"2026-11-20T10:00:00Z\"}}"),
        ("application/javascript", "setPassword(newPassword1); x.token(t1); f(\"token\", 12);"),
        ("application/javascript", "const {password: userPassword1, token: t2} = props; let a = {password:newPassword12}"),
        ("application/javascript", "i18n.t(\"password\", \"Passwort\"); t('token', 'Zugangscode eingeben')"),
        ("application/javascript", "$(\"#password\").val(value12); el.type = \"password\"; document.getElementById(\"password\").focus()"),
        (
            "application/json",
            "{\"login.password\":\"Passwort\",\"form.password_hint\":\"At least 8 characters\",\"reset_password\":\"Reset\"}"
        ),
        ("application/json", "{\"forgot_password\":\"/reset/now2\",\"invalid_password\":\"Use 8 letters\",\"show_password\":\"Show\"}"),
        ("application/json", "{\"nextPageToken\":\"CAUQAA0123456789\",\"continuation_token\":\"b3B0aW9uMTIzNDU2\"}"),
        ("text/css", ".a{--token-color: red1;--password-bg:#fff000}"),
    ])
    func programsWithoutASecret(type: String, text: String) { HiddenPlace.stays(text, type: type) }

    @Test(arguments: [
        ("text/plain", "# Netscape HTTP Cookie File\n\nh.test\tFALSE\t/\tFALSE\t0\tsid\th7nter2Xq\n"),
        (
            "text/plain",
            "# Netscape HTTP Cookie File\n#HttpOnly_h.test\tFALSE\t/\tTRUE\t1790000000\tsession\th7nter2Xq\n.x\tTRUE\t/\tFALSE\t0\ta\tb\n"
        ),
        ("text/plain", "h.test\tFALSE\t/\tFALSE\t0\tsid\th7nter2Xq"),
        ("text/plain", "# HTTP Cookie File\nh.test\tFALSE\t/\tFALSE\t0\tsid\th7nter2Xq\n"),
        ("text/plain", "#LWP-Cookies-1.0\nSet-Cookie3: sid=h7nter2Xq; path=\"/\"; domain=h\n"),
        ("text/plain", "localhost:5432:mydb:ada:h7nter2Xq\n"),
        ("text/plain", "# c\n*:*:*:ada:h7nter2Xq\n"),
        ("text/plain", "h.test:5432:*:ada:h7nter2Xq\nh2:1:a:b:zz7yyyy\n"),
        ("text/plain", "h\\:1:5432:db:ada:h7nter2Xq"),
    ])
    func filesOfRecords(type: String, text: String) { HiddenPlace.check(text, type: type, inJSON: false) }

    /// PHP readers rely on the byte counts.
    @Test func countsOfBytesFollow() {
        let serialized = #"a:1:{s:8:"password";s:9:"h7nter2Xq";}"#
        #expect(RedactionFixtures.body(serialized, type: "text/plain") == #"a:1:{s:8:"password";s:14:"{{password:1}}";}"#)
        let json = #"{"s":"a:1:{s:8:\"password\";s:9:\"h7nter2Xq\";}"}"#
        #expect(RedactionFixtures.body(json) == #"{"s":"a:1:{s:8:\"password\";s:14:\"{{password:1}}\";}"}"#)
        #expect(
            RedactionFixtures.body("[\"password\"]=>\n  string(9) \"h7nter2Xq\"", type: "text/plain")
                == "[\"password\"]=>\n  string(14) \"{{password:1}}\"")
    }

    /// RFC 2849: two colons precede base64.
    @Test func base64OfLDIFStaysBase64() {
        #expect(
            RedactionFixtures.body("dn: cn=a\nuserPassword:: aDdudGVyMlhx\ncn: a\n", type: "text/plain")
                == "dn: cn=a\nuserPassword:: e3twYXNzd29yZDoxfX0=\ncn: a\n")
    }

    @Test func linesOfBase64KeepTheirLength() {
        let text = #"{"user":"ada","note":"some more text in it","password":"h7nter2Xq"}"#
        let coded = String(decoding: SecretCorpus.base64(Array(text.utf8)), as: UTF8.self)
        for width in [16, 64, 76] {
            for end in ["\n", "\r\n"] {
                let lines = stride(from: 0, to: coded.count, by: width).map { coded.dropFirst($0).prefix(width) }.joined(separator: end)
                let redacted = RedactionFixtures.body("begin\n\n" + lines + "\n--end", type: "text/plain")
                let found = redacted.dropFirst("begin\n\n".count).dropLast("\n--end".count)
                #expect(found.split(separator: end).dropLast().allSatisfy { $0.count == width }, "\(redacted)")
                let decoded = Base64.decode(Array(found.utf8).filter { $0 > 32 }).map { String(decoding: $0, as: UTF8.self) }
                #expect(decoded == text.replacing("h7nter2Xq", with: "{{password:1}}"), "\(redacted)")
            }
        }
    }
}
