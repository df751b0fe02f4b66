import TapeTestSupport
import Testing

@testable import CassetteModel
@testable import CassettePlayback
@testable import CassetteRedaction
@testable import CassetteStore
@testable import TapeBytes

/// Places where a name marks a secret, in texts of many syntaxes: each has texts next to it that must stay unchanged.
@Suite struct NamedPlacesTests {
    private func redacted(_ text: String, type: String = "text/plain") -> String { RedactionFixtures.body(text, type: type) }

    private func stays(_ text: String, type: String = "text/plain", _ location: SourceLocation = #_sourceLocation) {
        #expect(self.redacted(text, type: type) == text, sourceLocation: location)
    }

    // MARK: Cut texts

    @Test(arguments: [
        (#"{"password":"hunt"#, #"{"password":"{{password:1}}"#), (#"{"a":1,"token":"ab\"cd\"#, #"{"a":1,"token":"{{token:1}}"#),
        (#"{"a":1,"token":["abcdefgh12345678","abcdefgh1234567x"#, #"{"a":1,"token":["{{token:1}}","{{token:2}}"#),
        ("<a><password>hunt", "<a><password>{{password:1}}"), (#"<login password="hunt"#, #"<login password="{{password:1}}"#),
    ])
    func theTailOfACutValueIsTakenOut(text: String, redacted: String) {
        #expect(self.redacted(text, type: "application/json") == redacted)
    }

    @Test func aCutTextWithoutASecretStays() {
        self.stays(#"{"passwords":"hunt"#, type: "application/json")
        self.stays(#"{"password":""#, type: "application/json")
        self.stays(#"{"name":"password"#, type: "application/json")
        self.stays("let a: List<Token> b = c")
        for text in [
            #"{"error":"Missing header: Bearer <token>"}"#, #"{"type":"Promise<Token>","x":1}"#, #"{"a":"\u003ctoken\u003e"}"#,
            #"say <token>now"#, #"{"a":"List<Token>"#,
        ] { self.stays(text, type: "application/json") }
        // A document rather than a secret.
        self.stays(#"{"password":""# + String(repeating: "x ", count: 40_000), type: "application/json")
    }

    /// An archive that contains `pwd=` by chance is restored byte for byte.
    @Test func bytesOfChanceAreNoNames() {
        var text = Array("PK\u{3}\u{4}\u{0} pwd=k7Zq0Lm2\npassword: x9Yw8Vu7\n".utf8)
        #expect(text.withUnsafeBytes { TextSurvey.findings(in: $0) }.isEmpty)
        text = Array("a long text, and then pwd=".utf8) + [0x6B, 0xC3, 0x28, 0x37, 0x5A, 0xFF, 0x30] + Array("\n".utf8)
        #expect(text.withUnsafeBytes { TextSurvey.findings(in: $0) }.isEmpty)
        text = Array("\u{9C}://user@y http://".utf8) + [0x61, 0xFF, 0x62] + Array(":c@host".utf8)
        #expect(text.withUnsafeBytes { TextSurvey.findings(in: $0) }.isEmpty)
        text = Array("a long text, and then pwd=k7Zq0Lm2\n".utf8)
        #expect(text.withUnsafeBytes { TextSurvey.findings(in: $0) }.count == 1)
    }

    /// Each name in them starts a value that reaches to the end: only one of them is examined and learned.
    @Test(arguments: ["9:token=", "?token=", ":token>", "x:token='", "-token:", "9;token=9&token=", "<:token>"])
    func manyNamesInOneAnotherAreOneValue(text: String) {
        let bytes = Array(String(repeating: text, count: 20_000).utf8)
        let findings = bytes.withUnsafeBytes { TextSurvey.findings(in: $0) }
        #expect(findings.reduce(0) { $0 + $1.secret.count } <= bytes.count)
    }

    /// If they counted as secrets, they would be removed from the URLs that lead there.
    @Test(arguments: [
        #"{login:"/login",token:"/oauth/token"}"#, "token: /oauth/token\n", "PWD=/home/user/project\npwd: /srv/app\n",
        #"<a token="https://h.test/oauth/token">"#, "password: ./secrets/password.txt\n", "token=../token\n",
    ])
    func pathsToSecretsStay(text: String) { self.stays(text) }

    @Test func aKeyMayBeginAsAPathDoes() {
        #expect(self.redacted("secret: /8fjK2mQp0aLx93bTz/k\n") == "secret: {{secret:1}}\n")
        #expect(self.redacted("password: https://u:p4ssw0rd@h.test/\n").contains("p4ssw0rd") == false)
    }

    /// The value is not needed in its own place, but everywhere else.
    @Test func aPathInJSONIsTakenOutThereAlone() {
        let text = #"{"token":"/oauth/token","url":"http://h/oauth/token"}"#
        #expect(self.redacted(text, type: "application/json").hasSuffix(#""url":"http://h/oauth/token"}"#))
    }

    @Test func secretCutAtTheEndOfAPieceIsNotLearned() throws {
        // The second piece has the rest of the value; the beginning is no secret by itself.
        let text = Array((String(repeating: "a ", count: 524_280) + #""password":"hunter2hunter3","note":"hunter2 is a word" "#).utf8)
        let vault = SecretVault()
        let stream = TextStream(TextRedaction(rules: .standard, vault: vault), kind: .plain)
        var bytes: [UInt8] = []
        // After `hunter2`.
        let edge = 1_048_560 + 19
        text[..<edge].withUnsafeBytes { stream.push($0) { bytes.append(contentsOf: $0) } }
        text[edge...].withUnsafeBytes { stream.push($0) { bytes.append(contentsOf: $0) } }
        stream.finish { bytes.append(contentsOf: $0) }
        #expect(String(decoding: bytes.suffix(60), as: UTF8.self).hasSuffix(#""password":"{{password:1}}","note":"hunter2 is a word" "#))
        #expect(vault.count == 1)
    }

    // MARK: XML, GraphQL, JavaScript

    @Test(arguments: [
        (#"<login password="hunter2"/>"#, #"<login password="{{password:1}}"/>"#),
        (#"<login user='a' password='hunter2'/>"#, #"<login user='a' password='{{password:1}}'/>"#),
        ("<a\n\twsse:Password = \"p\">", "<a\n\twsse:Password = \"p\">"),
        ("<a\n\twsse:Password = \"p4ss\">", "<a\n\twsse:Password = \"{{password:1}}\">"),
        (#"<a wsse:Password="p&quot;q">"#, #"<a wsse:Password="{{password:1}}">"#),
        (#"<add key="x" apiKey="k1"/>"#, #"<add key="x" apiKey="{{api-key:1}}"/>"#),
    ])
    func attributesOfXML(text: String, redacted: String) {
        #expect(self.redacted(text, type: "application/xml") == redacted)
    }

    @Test func attributesThatSayNothing() {
        self.stays(#"<input type="password" name="password" autocomplete="current-password">"#, type: "text/html")
        self.stays(#"<input :password="form.password" [token]="token" token="{{ token }}" password="${password}">"#, type: "text/html")
        self.stays(#"<a key="item-1" code="E42" session="on" auth="none" password="">"#, type: "text/html")
    }

    @Test(arguments: [
        (
            #"mutation { login(user: "a", password: "hunter2") { id } }"#,
            #"mutation { login(user: "a", password: "{{password:1}}") { id } }"#
        ),
        (#"{"query":"mutation { login(password: \"hunter2\") }"}"#, #"{"query":"mutation { login(password: \"{{password:1}}\") }"}"#),
        (#"login(password:"hunter2",token:"t1")"#, #"login(password:"{{password:1}}",token:"{{token:1}}")"#),
        (#"login(password: """hunter2""")"#, #"login(password: """{{password:1}}""")"#),
        (#"var a = {password: 'x1', apiKey: "y1"}"#, #"var a = {password: '{{password:1}}', apiKey: "{{api-key:1}}"}"#),
        (#"{'password': 'x1', "token": 't1'}"#, #"{'password': '{{password:1}}', "token": '{{token:1}}'}"#),
        (#"{user: `a`, token: `t1`}"#, #"{user: `a`, token: `{{token:1}}`}"#),
        (#"{"user"=>"a", "password"=>"hunter2"}"#, #"{"user"=>"a", "password"=>"{{password:1}}"}"#),
    ])
    func literalsInPrograms(text: String, redacted: String) {
        #expect(self.redacted(text, type: text.hasPrefix("{\"query") ? "application/json" : "text/plain") == redacted)
    }

    @Test(arguments: [
        "login(password: $password, token: token, apiKey: config.apiKey)", "type User { password: String! token: String }",
        "function f(e,t){var token=e.token,key=t.key2;return{token:token,password:e.password2,secret:void 0}}",
        "interface A { password: string; token?: string; apiKey: AuthToken }", "const token = 'a'", "x.password=y.password;",
        "{password: '', token: \"${token}\", apiKey: `${key}`, secret: '{{secret}}'}", "password: { type: 'string', minLength: 8 }",
        "label: 'password', type: 'token'", "login(password=password, token=get_token(1), key=None, secret=os.environ[\"S3CRET\"])",
        "isPassword: 'yes', password_required: 'yes'",
    ])
    func namesInPrograms(text: String) {
        self.stays(text, type: "text/javascript")
    }

    // MARK: Lines of logs, heads and settings

    @Test(arguments: [
        ("12:00 INFO > Authorization: Bearer abcdef0123 sent", "12:00 INFO > Authorization: Bearer {{authorization:1}} sent"),
        ("curl -H 'Authorization: Basic dXNlcjpwYXNz' http://h/", "curl -H 'Authorization: Basic {{authorization:1}}' http://h/"),
        ("headers={'Authorization': 'Basic dXNlcjpwYXNz'}", "headers={'Authorization': 'Basic {{authorization:1}}'}"),
        ("{headers: {Authorization: 'Bearer abcdef0123'}}", "{headers: {Authorization: 'Bearer {{authorization:1}}'}}"),
        (
            #"{"headers":{"Authorization":["Bearer abcdef0123"],"Accept":["a"]}}"#,
            #"{"headers":{"Authorization":["Bearer {{authorization:1}}"],"Accept":["a"]}}"#
        ),
        (
            #"{"rawHeaders":["Accept","a","Authorization","Bearer abcdef0123"]}"#,
            #"{"rawHeaders":["Accept","a","Authorization","Bearer {{authorization:1}}"]}"#
        ),
        (
            #"{"auth":{"client_token":"hvc1n2b3"},"dbPass":"h7nter2Xq"}"#,
            #"{"auth":{"client_token":"{{token:1}}"},"dbPass":"{{password:1}}"}"#
        ),
        ("> GET / HTTP/1.1\r\n> Cookie: a=b1; c=d1\r\n>", "> GET / HTTP/1.1\r\n> Cookie: a={{cookie:1}}; c={{cookie:2}}\r\n>"),
        ("< Set-Cookie: sid=s1; Path=/; HttpOnly\n", "< Set-Cookie: sid={{cookie:1}}; Path=/; HttpOnly\n"),
        ("X-Api-Key: k-123456", "X-Api-Key: {{api-key:1}}"),
        ("INFO api_key=abc123def user=anna", "INFO api_key={{api-key:1}} user=anna"),
        ("DEBUG login (user=anna,password=hunter2)", "DEBUG login (user=anna,password={{password:1}})"),
        (#"{"msg":"retry with token=abc123def, again"}"#, #"{"msg":"retry with token={{token:1}}, again"}"#),
        ("time=1 password=\"two words 7\" user=a", "time=1 password=\"{{password:1}}\" user=a"),
        ("USER=anna\nPASSWORD=swordfish\nexport API_KEY=abcdef\n", "USER=anna\nPASSWORD={{password:1}}\nexport API_KEY={{api-key:1}}\n"),
        ("user: anna\npassword: hunter2\n", "user: anna\npassword: {{password:1}}\n"),
        (
            "a:\n  - password: 'hunter 2' # old\n    api-key: \"k1\"",
            "a:\n  - password: '{{password:1}}' # old\n    api-key: \"{{api-key:1}}\""
        ),
        ("\"password\": swordfish\n'token': abcdef7\n", "\"password\": {{password:1}}\n'token': {{token:1}}\n"),
    ])
    func linesThatNameASecret(text: String, redacted: String) {
        #expect(self.redacted(text) == redacted)
    }

    @Test(arguments: [
        "Enter your password: it has eight letters or more\nPassword: what you chose\n",
        "Authorization: required\nauthorization: see below\n",
        "Use `Authorization: Bearer <token>`, Authorization: Bearer $TOKEN or Authorization: Bearer YOUR_TOKEN",
        "password:\n  type: string\n  format: password\ntoken: string\nsecret: ${SECRET}\napi_key: <your key>\nprivate_key: |\n",
        "password: true\ntoken: null\nsecret: !vault abc\nkey: *anchor\ncode: E42\nsession: on\n",
        "Cookie: yes\nI like this cookie: it is sweet\nset-cookie: none", "token=t1", "password=password",
        "got token=None and password=***",
        "the token: a word", "token=, password= and secret=", "PASSWORD=$1\nTOKEN=$(cat token)\nSECRET={{secret:1}}\n",
        "for key: value pairs", "api_key: your-api-key-1\nauthorization: oauth2\n", "code=200 session=active auth=basic key=name",
    ])
    func linesThatSayNothing(text: String) {
        self.stays(text)
        self.stays(text, type: "application/yaml")
    }

    @Test(arguments: [
        (#"{"log":"x\npassword: hunter2"}"#, #"{"log":"x\npassword: {{password:1}}"}"#),
        (#"{"log":"Cookie: a=b1","x":1}"#, #"{"log":"Cookie: a={{cookie:1}}","x":1}"#),
        (#"{"log":"x\nCookie: a=b1; c=d1","x":1}"#, #"{"log":"x\nCookie: a={{cookie:1}}; c={{cookie:2}}","x":1}"#),
        (#"{"log":"x\nAuthorization: Bearer abcdef12","x":1}"#, #"{"log":"x\nAuthorization: Bearer {{authorization:1}}","x":1}"#),
        (#"["token:",12345,"x"]"#, #"["token:",12345,"x"]"#), (#"["a token=",12345,"x"]"#, #"["a token=",12345,"x"]"#),
        (#"{"q":"password: 'abc1","r":"x'"}"#, #"{"q":"password: 'abc1","r":"x'"}"#),
        (#"{"a":"password:","b":"x1"}"#, #"{"a":"password:","b":"x1"}"#),
    ])
    func valuesEndWithTheStringThatTheyAreIn(text: String, redacted: String) {
        #expect(self.redacted(text, type: "application/json") == redacted)
    }

    @Test func aValueEndsWithTheFieldThatItIsIn() {
        let redacted = self.redacted("a=x%0Apassword: hunter2&c=2", type: "application/x-www-form-urlencoded")
        #expect(redacted == "a=x%0Apassword: %7B%7Bpassword:1%7D%7D&c=2")
    }

    // MARK: Pairs and cookies in JSON

    @Test(arguments: [
        (#"{"name": "Authorization", "value": "Bearer abc"}"#, #"{"name": "Authorization", "value": "Bearer {{authorization:1}}"}"#),
        (#"{"key":"X-Api-Key","value":"k1","type":"text"}"#, #"{"key":"X-Api-Key","value":"{{api-key:1}}","type":"text"}"#),
        (#"{"value":"k\"1","name":"password"}"#, #"{"value":"{{password:1}}","name":"password"}"#),
        (#"{"Name":"password","type":"text","Value":"p1"}"#, #"{"Name":"password","type":"text","Value":"{{password:1}}"}"#),
        (#"{"name":"Cookie","value":"a=b1; c=d1"}"#, #"{"name":"Cookie","value":"a={{cookie:1}}; c={{cookie:2}}"}"#),
        (#"{"name":"set-cookie","value":"a=b1; Path=/"}"#, #"{"name":"set-cookie","value":"a={{cookie:1}}; Path=/"}"#),
        (#"{"name":"password","value":"hunt"#, #"{"name":"password","value":"{{password:1}}"#),
    ])
    func pairsOfNameAndValue(text: String, redacted: String) {
        #expect(self.redacted(text, type: "application/json") == redacted)
    }

    @Test func pairsThatSayNothing() {
        self.stays(#"[{"name":"password","type":"password"},{"name":"user","value":"anna"}]"#, type: "application/json")
        self.stays(#"{"title":"password","value":"anna"}"#, type: "application/json")
        self.stays(#"{"value":"anna","id":"password"},{"value":"E42","name":"code"}"#, type: "application/json")
        self.stays(#"{"name":"password","value":12,"next":{"value":"anna"}}"#, type: "application/json")
        self.stays(#"{password:"Enter your password",token:"Token",label:"secret"}"#, type: "text/javascript")
        self.stays(#"{"name":"session","value":"on"},{"key":"key","value":"name"}"#, type: "application/json")
    }

    @Test(arguments: [
        (#"{"cookie":"a=b1; c=d1"}"#, #"{"cookie":"a={{cookie:1}}; c={{cookie:2}}"}"#),
        (#"{"Set-Cookie":"a=b1; Path=/; Secure"}"#, #"{"Set-Cookie":"a={{cookie:1}}; Path=/; Secure"}"#),
        (#"{"set-cookie":["a=b1; Path=/","c=d1"]}"#, #"{"set-cookie":["a={{cookie:1}}; Path=/","c={{cookie:2}}"]}"#),
        (#"{"cookie":"a=b1; c=d"#, #"{"cookie":"a={{cookie:1}}; c={{cookie:2}}"#),
    ])
    func cookiesInJSON(text: String, redacted: String) {
        #expect(self.redacted(text, type: "application/json") == redacted)
    }

    @Test func cookiesThatAreNoSecrets() {
        self.stays(#"{"cookie":"chocolate chip","cookies":"a=b","set-cookie":[],"cookie":null}"#, type: "application/json")
        #expect(RedactionFixtures.url("http://h/?cookie=accepted&set-cookie=a") == "http://h/?cookie=accepted&set-cookie=a")
    }

    // MARK: Templates and folders

    @Test(arguments: [
        #"{"password":"{{ vault_pw }}"}"#, #"{"token":"{{item.token}}"}"#, #"{"password":"${DB_PASSWORD}"}"#,
        #"{"password":"$DB_PASSWORD"}"#, #"{"secret":"%env(DB)%"}"#, #"{"PWD":"/home/bob1"}"#, #"{"PWD":"/srv/a1","OLDPWD":"/tmp/b2"}"#,
    ]) func templatesAndFoldersAreNoSecrets(text: String) { self.stays(text, type: "application/json") }

    @Test(arguments: [
        (#"{"password":"${DB_PASSWORD:-h7nter2Xq}"}"#, "h7nter2Xq"), (#"{"password":"$ecret12"}"#, "$ecret12"),
        (#"{"password":"{{h7nter2Xq"}"#, "h7nter2Xq"), (#"{"password":"%h7nter2Xq"}"#, "h7nter2Xq"), (#"{"pwd":"h7nter2Xq"}"#, "h7nter2Xq"),
        (#"{"password":"/home/bob1"}"#, "/home/bob1"), (#"{"pwd":"/home/bob1"}"#, "/home/bob1"), (#"{"PWD":"/Ab12xyQ"}"#, "/Ab12xyQ"),
        (#"{"password":"%Summer2024%"}"#, "Summer2024"), (#"{"password":"{{Tr0ub4dor-3}}"}"#, "Tr0ub4dor"),
        (#"{"password":"${Tr0ub4dor3}"}"#, "Tr0ub4dor3"),
    ]) func valuesLikeThemAreSecrets(text: String, secret: String) {
        #expect(!self.redacted(text, type: "application/json").contains(secret))
    }

    /// The name of an option begins the text, and its opening quote is not there.
    @Test func anOptionMayBeginAText() {
        for text in ["--r' x", "--r'", "--r\"x\""] { self.stays(text, type: "text/plain") }
    }

    @Test(arguments: ["token", "access_token", "api_key", "session_token", "sid"]) func base64MayBeginWithAnEscapedSlash(name: String) {
        let text = "\(name)=%2F9xKz8QwRt5%2FaB3dEfGhJ2mN"
        #expect(!RedactionFixtures.url("http://h/?\(text)").contains("9xKz8QwRt5"))
        #expect(!self.redacted(text, type: "application/x-www-form-urlencoded").contains("9xKz8QwRt5"))
    }

    @Test func aDateInAnItemIsNoSecretHoweverItIsSpelled() {
        for url in ["http://h/?sid=07/07/23/152243", "http://h/?sid=07%2F07%2F23%2F152243"] {
            #expect(RedactionFixtures.url(url) == url)
            self.stays("see \(url) there", type: "text/plain")
        }
    }

    // MARK: Columns

    @Test(arguments: [
        ("user,password\nann,hunter2\n\nbob,swordfish", "user,password\nann,{{password:1}}\n\nbob,{{password:2}}"),
        (
            "\u{feff}\"password\";\"user\"\r\n\"a;\"\"b\";ann\r\n;bob\r\n",
            "\u{feff}\"password\";\"user\"\r\n\"{{password:1}}\";ann\r\n;bob\r\n"
        ),
        ("user;API Key;note\nann;k1;x\n", "user;API Key;note\nann;{{api-key:1}};x\n"),
        ("id\tapi_key\n1\tk1\n2\tk2", "id\tapi_key\n1\t{{api-key:1}}\n2\t{{api-key:2}}"),
        ("a,password,b\n\"x\ny\",p1,\"hunt", "a,password,b\n\"x\ny\",{{password:1}},\"hunt"),
        // Quotes count only at the start of a field.
        ("size,password\n5\"\" disk,p1\n\"7\",p2\n", "size,password\n5\"\" disk,{{password:1}}\n\"7\",{{password:2}}\n"),
    ])
    func columnsOfSecrets(text: String, redacted: String) {
        #expect(self.redacted(text, type: "text/csv") == redacted)
    }

    @Test func columnsThatHoldNone() {
        self.stays("user,name\nann,hunter2\n", type: "text/csv")
        self.stays("token,count\nthe,42\nof,17\n", type: "text/csv")
        self.stays("id,secret\n1,false\n2,NULL\n", type: "text/csv")
        self.stays("User, password, and a sentence that goes on\nsecond line\n")
        self.stays("user,password\n")
        self.stays("user,password\nann\n")
    }

    @Test func columnsGoOnInALongBody() throws {
        let filler = String(repeating: "a", count: 600)
        let text = Array(("user,password\n" + (0..<4000).map { "\(filler),p-\($0)\n" }.joined()).utf8)
        let vault = SecretVault()
        var bytes: [UInt8] = []
        _ = try Redactor(vault: vault).redact(
            ByteSource(text), headers: HeaderFields(["Content-Type: text/csv"]), isComplete: true
        ) { bytes.append(contentsOf: $0) }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 4001)
        #expect(lines.dropFirst().allSatisfy { $0.hasPrefix(filler + ",{{password:") && $0.hasSuffix("}}") })
    }

    // MARK: Replay

    @Test(arguments: [
        ("application/json", #"{"headers":[{"name":"Authorization","value":"Bearer SECRET"}],"cookie":"a=SECRET"}"#),
        ("application/graphql", #"mutation { login(password: "SECRET") }"#), ("text/csv", "user,password\nann,SECRET\n"),
        ("application/yaml", "password: SECRET\n"), ("application/xml", "<login password='SECRET'/>"), ("text/plain", "api_key=SECRET"),
    ])
    func aLiveRequestWithAnotherSecretIsTheSame(type: String, text: String) {
        let one = RedactionFixtures.body(text.replacing("SECRET", with: "hunter2-one"), type: type)
        let other = RedactionFixtures.body(text.replacing("SECRET", with: "swordfish77"), type: type)
        #expect(one == other)
        #expect(!one.contains("hunter2-one"))
        #expect(RedactionFixtures.body(one, type: type) == one)
    }

    /// A cassette that was recorded when fewer secrets were found, or with other rules, still answers, even if the secret has changed
    /// since.
    @Test(arguments: ["hunter2-one", "swordfish77"]) func cassetteRecordedWithASecretStillAnswers(secret: String) throws {
        let bodies = [
            ("application/xml", "<login password='SECRET'/>"),
            ("application/json", #"{"headers":[{"name":"Authorization","value":"Bearer SECRET"}]}"#),
            ("application/yaml", "password: SECRET\n"), ("text/csv", "user,password\nann,SECRET\n"), ("text/plain", "api_key=SECRET"),
            ("multipart/form-data; boundary=X", "--X\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\napi_key=SECRET\r\n--X--\r\n"),
        ]
        let folder = try TemporaryFolder()
        let exchanges = bodies.enumerated().map { number, body in
            let text = body.1.replacing("SECRET", with: "hunter2-one")
            return """
                { "id": \(number + 1), "started": "2026-11-21T04:00:0\(number).000000Z",
                  "request": { "method": "POST", "url": "http://h/p", "headers": [\(Self.quoted("Content-Type: " + body.0))],
                    "body": { "size": \(text.utf8.count), "text": \(Self.quoted(text)) } },
                  "response": { "status": 200, "reason": "OK", "headers": [], "body": { "size": 0, "text": "" } } }
                """
        }
        _ = try folder.write(Array(#"{ "wiretape": 1, "interactions": [\#(exchanges.joined(separator: ",\n"))] }"#.utf8), to: "tape.json")
        let cassette = try RecordedCassette(path: folder.file("tape.json"))
        let session = try CassetteSession(mode: .none, cassette: cassette, redaction: LiveRedactor(Redactor(rules: .standard)))
        for (index, body) in bodies.enumerated() {
            let request = SentRequests.Request(
                method: "POST", url: "http://h/p", lines: ["Content-Type: \(body.0)"], body: body.1.replacing("SECRET", with: secret))
            #expect(try session.send(request) == .replay(index: index), "\(body.0)")
        }
    }

    private static func quoted(_ text: String) -> String {
        var writer = JSONWriter()
        writer.string(text)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
