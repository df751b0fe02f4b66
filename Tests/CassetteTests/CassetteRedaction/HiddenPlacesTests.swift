import TapeBytes
import TapeTestSupport
import Testing

@testable import CassetteModel
@testable import CassetteRedaction

/// Places that a search for adjacent names and values does not find: each has texts next to it that must stay.
@Suite struct HiddenPlacesTests {
    private static let secret = "h7nter2Xq"

    /// Expects that the secret is gone, the surroundings stay, and a second search changes nothing.
    private func check(_ text: String, type: String, stays: [String] = [], _ location: SourceLocation = #_sourceLocation) {
        let redacted = RedactionFixtures.body(text, type: type)
        #expect(!redacted.contains(Self.secret), "\(redacted)", sourceLocation: location)
        #expect(redacted != text, sourceLocation: location)
        for part in stays { #expect(redacted.contains(part), "\(redacted)", sourceLocation: location) }
        #expect(RedactionFixtures.body(redacted, type: type) == redacted, sourceLocation: location)
    }

    private func stays(_ text: String, type: String = "application/json", _ location: SourceLocation = #_sourceLocation) {
        #expect(RedactionFixtures.body(text, type: type) == text, sourceLocation: location)
    }

    // MARK: XML

    @Test(arguments: [
        #"<a><wsse:Password Type="http://x#PasswordText">h7nter2Xq</wsse:Password></a>"#,
        "<a><ns:apiKey><![CDATA[h7nter2Xq]]></ns:apiKey></a>",
        #"<a><password xsi:type="xsd:string">h7nter2Xq</password></a>"#,
        "<a><password xsi:type='xsd:string' a='>'>\n h7nter2Xq\n </password></a>",
        "<a><PASSWORD type='x'>h7nter2Xq</PASSWORD></a>", "<a><password>\n<![CDATA[\nh7nter2Xq]]>\n</password></a>",
        "<a><password><!-- new -->h7nter2Xq</password></a>", "<a><password x='1'>h7nter2Xq<!-- new --></password></a>",
        "<a><![CDATA[<b><password t='x'>h7nter2Xq</password></b>]]></a>",
        "<a>&lt;password type=&quot;x&quot;&gt;h7nter2Xq&lt;/password&gt;</a>",
        "<a><password><value>h7nter2Xq</value></password></a>",
        "<a><password a='1'><ns:value b='2'><![CDATA[h7nter2Xq]]></ns:value></password></a>",
        "<plist><dict><key>password</key><string>h7nter2Xq</string></dict></plist>",
        "<e><name>api_key</name>\n <value>h7nter2Xq</value></e>",
        "<e><Key>client_secret</Key><Value xsi:type='s'><![CDATA[h7nter2Xq]]></Value></e>", "<a><pwd\n\tb=\"c\"\n>h7nter2Xq</pwd></a>",
        "<a><password/><password type='x'>h7nter2Xq</password></a>",
        "<a><token><b/></token><password c='d'><value>h7nter2Xq</value></password></a>",
        "<passwords><a>h7nter2Xq</a></passwords>",
    ])
    func elementsOfXML(text: String) {
        self.check(text, type: "application/xml")
        self.check(text, type: "text/xml; charset=utf-8")
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n").replacing(
            "\t", with: "\\t")
        self.check("{\"xml\":\"\(escaped)\"}", type: "application/json")
        self.check("{\"xml\":\"\(escaped.replacing("<", with: "\\u003c").replacing("/", with: "\\/"))\"}", type: "application/json")
    }

    @Test func elementsOfXMLWithoutASecret() {
        for text in [
            #"<xs:element name="password" type="xs:string"/>"#, #"<password type="x"/><a>text</a>"#,
            #"<password type="x"></password><a>b</a>"#,
            "<key>name</key><string>value</string>", "<key>password</key><false/>", "<key>tokens</key><integer>512</integer>",
            "<a><password><type>string</type><min>8</min></password></a>", "<label for='password'>Password</label>",
        ] { self.stays(text, type: "application/xml") }
    }

    // MARK: Base64

    @Test(arguments: [
        #"{"password":"h7nter2Xq"}"#, #"{ "password" : "h7nter2Xq" }"#, "{\n  \"a\": 1,\n  \"api_key\": \"h7nter2Xq\"\n}",
        #"[{"token":"h7nter2Xq"}]"#,
        "user=ada&password=h7nter2Xq&x=1", "<?xml version='1.0'?><a><password t='1'>h7nter2Xq</password></a>",
        "a: 1\npassword: h7nter2Xq\n",
    ])
    func base64InJSON(text: String) {
        for isURLSafe in [false, true] {
            for pad in 0..<3 {
                let inner = Array(text.utf8) + Array(repeating: 10, count: pad)
                var coded = SecretCorpus.base64(inner, urlSafe: isURLSafe)
                for level in 1...3 {
                    let body = #"{"id":7,"bytes":""# + String(decoding: coded, as: UTF8.self) + #"","n":"x"}"#
                    let redacted = RedactionFixtures.body(body)
                    var part = Array(redacted.dropFirst(#"{"id":7,"bytes":""#.count).dropLast(#"","n":"x"}"#.count).utf8)
                    for _ in 0..<level { part = part.withUnsafeBytes { Base64Text($0[...])?.content ?? [] } }
                    let found = String(decoding: part, as: UTF8.self)
                    let isRedacted = !found.contains(Self.secret) && (found.contains("{{") || found.contains("%7B%7B"))
                    #expect(isRedacted, "\(level) \(isURLSafe) \(pad) \(body) \(found)")
                    #expect(RedactionFixtures.body(redacted) == redacted)
                    // The beginning of each text is recognized within this many levels.
                    if level == (text.hasPrefix("{\"") ? 3 : text.hasPrefix("{ ") || text.hasPrefix("<?") ? 2 : 1) { break }
                    coded = SecretCorpus.base64(coded, urlSafe: isURLSafe)
                }
            }
        }
    }

    @Test func base64OfNothingSecretStays() {
        let picture = SecretCorpus.base64((0..<3000).map { UInt8(truncatingIfNeeded: $0 &* 37) })
        self.stays(#"{"png":""# + String(decoding: picture, as: UTF8.self) + #""}"#)
        let text = SecretCorpus.base64(Array(#"{"name":"a token of thanks, no secret password"}"#.utf8))
        self.stays(#"{"data":""# + String(decoding: text, as: UTF8.self) + #""}"#)
        // The claims of a token that another rule keeps.
        self.stays("/files/eyJhIjoxfQ==/x", type: "text/plain")
    }

    // MARK: Settings and logs

    @Test(arguments: [
        "[db]\npassword = h7nter2Xq\n", "[db]\npassword = \"h7nter2Xq\"\nport = 1\n", "password    = 'h7nter2Xq' # c\n",
        "\"password\" = \"h7nter2Xq\"\n",
        "db = { user = \"a\", password = \"h7nter2Xq\" }\n", "[a]\napi_key\t=\th7nter2Xq\n", "password : h7nter2Xq\n",
        "[x]\napi.key = h7nter2Xq ; c\n",
        "machine h.test login ada password h7nter2Xq\n", "machine h.test\n  login ada\n  password h7nter2Xq\nmacdef init\n cd /\n\n",
        "default login ada password h7nter2Xq", "machine h.test login ada account x password \"h7nter2Xq\"",
        "Authorization=Bearer h7nter2Xq\n", "x authorization=Bearer h7nter2Xq y", "authorization: Bearer h7nter2Xq",
        "$ curl -u ada:h7nter2Xq https://h.test/", "curl -s --user 'ada:h7nter2Xq' h", "curl -H 'X-Api-Key: h7nter2Xq' h",
        "curl -sSu ada:h7nter2Xq h",
        "curl --header \"Authorization: Bearer h7nter2Xq\" h", "curl \\\n  -u ada:h7nter2Xq \\\n  h", "curl --proxy-user ada:h7nter2Xq h",
        "git clone https://ada:h7nter2Xq@h.test/x", "PGPASSWORD=h7nter2Xq psql -h h", "mysql -u root -ph7nter2Xq db",
        "mysqldump -ph7nter2Xq db",
        "docker login -u ada -p h7nter2Xq r.test", "sshpass -p h7nter2Xq ssh h", "sshpass -ph7nter2Xq ssh h",
        "redis-cli -h h -a h7nter2Xq ping", "openssl enc -aes-256-cbc -k h7nter2Xq -in a",
        "tool --password h7nter2Xq", "tool --api-key 'h7nter2Xq'", "docker login --password h7nter2Xq", "export GITHUB_TOKEN=h7nter2Xq; x",
        "Server=h;Database=d;User Id=sa;Password=h7nter2Xq;", "Password=h7nter2Xq;Server=h",
        "AccountName=a;AccountKey=h7nter2Xq==;EndpointSuffix=x",
        "Endpoint=sb://h/;SharedAccessKeyName=R;SharedAccessKey=h7nter2Xq=", "redis://:h7nter2Xq@h:6379/0",
        "mongodb+srv://ada:h7nter2Xq@h/db",
        "jdbc:oracle:thin:scott/h7nter2Xq@//h:1521/x", "jdbc:oracle:oci:scott/h7nter2Xq@h:1521:x",
        "jdbc:sqlserver://h:1433;user=sa;password=h7nter2Xq;encrypt=true", "jdbc:postgresql://h/d?user=a&password=h7nter2Xq",
        "Uid=a; Pwd=h7nter2Xq; X=1",
    ])
    func settingsAndCommands(text: String) {
        self.check(text, type: "text/plain")
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n").replacing(
            "\t", with: "\\t")
        self.check("{\"a\":1,\"line\":\"\(escaped)\",\"b\":2}", type: "application/json", stays: [#"{"a":1,"line":""#, #"","b":2}"#])
    }

    @Test(arguments: [
        "the machine was there and the password changed", "mkdir -p /var/lib/data1 && docker run -p 8080:80 img", "ssh -p 2222x host1",
        "tokens = 512\n", "let token = next()\nkey = value\n", "password = getpass.getpass()\n", "usage: tool --password PASSWORD",
        "docker run --user 1000:1000 img", "token = response\nif token == x: pass\n", "a.b;token=tokens.next;",
        "for (token = 1; token < 9;)",
        "curl -o file2:name1 https://h.test/", "default log in password policy", "key = lambda a: a\n", "secrets: inherit\n",
        "curl -u ada https://h.test/", "password:\n  type: string\n  minLength: 8\n", "MAX_TOKENS=4096\n",
    ])
    func linesWithoutASecret(text: String) { self.stays(text, type: "text/plain") }

    @Test func formsWithSemicolons() {
        self.check("user=ada;password=h7nter2Xq;x=1", type: "application/x-www-form-urlencoded", stays: ["user=ada;password=", ";x=1"])
        self.check("password=h7nter2Xq;user=ada", type: "application/x-www-form-urlencoded", stays: [";user=ada"])
        self.check("a=1&password=h7nter2Xq;b&x=1", type: "application/x-www-form-urlencoded", stays: ["&x=1"])
    }

    // MARK: Values within values

    @Test(arguments: [
        #"{"password":{"value":"h7nter2Xq"}}"#, #"{"password": { "a": 1, "value": "h7nter2Xq" }}"#, #"{"tokens":["h7nter2Xq"]}"#,
        #"{"passwords":{"a":"h7nter2Xq"}}"#, #"{"passwords":{"a":{"b":"h7nter2Xq"}}}"#, #"{"tokens":[{"value":"h7nter2Xq"}]}"#,
        #"{"password":{"S":"h7nter2Xq"}}"#, #"{"secrets":{"db":"h7nter2Xq"}}"#, #"{"password":["h7nter2Xq"]}"#,
        #"{"api_key":{"current":"h7nter2Xq"}}"#,
        #"{"token":{"value":"h7nter2Xq","expires":3600}}"#, #"{"a":"{\"password\":{\"value\":\"h7nter2Xq\"}}"}"#,
    ])
    func valuesWithinValues(text: String) { self.check(text, type: "application/json") }

    @Test(arguments: [
        "password:\n  value: h7nter2Xq\nother: 1\n", "passwords:\n  a: h7nter2Xq\n  b: \"h7nter2Xq\"\n", "password: |\n  h7nter2Xq\nx: y\n",
        "db:\n  password:\n    value: 'h7nter2Xq'\n", "tokens:\n  - h7nter2Xq\n", "tokens:\n- h7nter2Xq\n- h7nter2Xq\nx: 1\n",
    ])
    func valuesInYAML(text: String) { self.check(text, type: "application/yaml") }

    @Test(arguments: [
        #"{"password":{"type":"string"}}"#, #"{"properties":{"password":{"type":"string","minLength":8,"default":"Ab1cdefgh"}}}"#,
        #"{"usage":{"tokens":512,"total_tokens":1024}}"#, #"{"tokens":512}"#, #"{"tokens":["the","cat"," sat","<|end1|>"]}"#,
        #"{"tokens":{"prompt":12,"completion":2048}}"#, #"{"token":{"type":"Keyword","value":"return"}}"#,
        #"{"errors":{"password":["is too short"]}}"#,
        #"{"password":{"error":"too_short1","value":"x"}}"#, #"{"password":{"label":"Password","placeholder":"Enter it"}}"#,
        ##"{"schema":{"token":{"$ref":"#/components/Token1"}}}"##, #"{"passwords":{}}"#, #"{"password":{"value":true}}"#,
        #"{"query":"query Q($password: String!) { login(password: $password) { token } }"}"#, #"{"tokens":[1,2,3]}"#,
        #"{"secrets":{"type":"object","properties":{"a":{"type":"string"}}}}"#, #"{"tokens":[{"text":"the"},{"text":"2nd"}]}"#,
    ])
    func valuesThatAreNoSecrets(text: String) { self.stays(text) }
}
