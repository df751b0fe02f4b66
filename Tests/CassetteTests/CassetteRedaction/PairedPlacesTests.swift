import Testing

@testable import CassetteRedaction

/// Secrets whose name is the value of another member, the end of a path or URL, or an item of a list.
@Suite struct PairedPlacesTests {
    @Test(arguments: [
        #"{"op":"replace","path":"/password","value":"h7nter2Xq"}"#, #"[{"op":"add","path":"/user/0/password","value":"h7nter2Xq"}]"#,
        #"[{"value":"h7nter2Xq","op":"add","path":"/user/password"}]"#,
        #"{"Operations":[{"op":"replace","path":"password","value":"h7nter2Xq"}]}"#,
        #"{"Operations":[{"op":"replace","path":"urn:ietf:params:scim:schemas:core:2.0:User:password","value":"h7nter2Xq"}]}"#,
        #"{"type":"password","value":"h7nter2Xq","temporary":false}"#, #"{"credentials":[{"value":"h7nter2Xq","type":"password"}]}"#,
        #"{"field":"password","value":"h7nter2Xq"}"#, #"{"attribute":"userPassword","newValue":"h7nter2Xq"}"#,
        #"{"name":"/prod/db/password","type":"SecureString","value":"h7nter2Xq"}"#,
        #"{"outputs":{"conn":{"value":"h7nter2Xq","type":"string","sensitive":true}}}"#,
        #"{"outputs":{"conn":{"sensitive":true,"type":"string","value":"h7nter2Xq"}}}"#,
        #"{"Name":"/p","Value":"h7nter2Xq","Type":"SecureString"}"#,
        #"{"Parameter":{"Name":"/p","Type":"SecureString","Value":"h7nter2Xq","Version":1}}"#,
        #"{"key":"DEPLOY","value":"h7nter2Xq","masked":true}"#,
        #"{"type":"pipeline_variable","key":"X","value":"h7nter2Xq","secured":true}"#,
        #"{"key":"X","type":"encrypted","value":"h7nter2Xq"}"#, #"{"name":"X","encrypted": true, "value": "h7nter2Xq"}"#,
        #"{"name":"X","type":"secret_text","value":"h7nter2Xq"}"#,
        #"{"outputs":{"db_password":{"value":"h7nter2Xq","type":"string"}}}"#, #"{"variables":[{"value":"h7nter2Xq","isSecret":true}]}"#,
        #"{"https://w3id.org/security#secret":"h7nter2Xq"}"#, #"{"https://w3id.org/security#secret":[{"@value":"h7nter2Xq"}]}"#,
        #"{"http://schema.org/password":{"@value":"h7nter2Xq"}}"#, #"{"sec:password":"h7nter2Xq"}"#,
        #"["password","h7nter2Xq"]"#, #"{"a":[["user","ada"],["password","h7nter2Xq"]]}"#, #"{"a":[["x-api-key","h7nter2Xq"],["a","b"]]}"#,
        #"{"rawHeaders":["Host","h","X-Api-Key","h7nter2Xq","Accept","*/*"]}"#,
        #"{"rawHeaders":["Host","h","Cookie","sid=h7nter2Xq","Accept","*/*"]}"#,
    ])
    func valueNextToItsName(text: String) {
        HiddenPlace.check(text, type: "application/json")
        // The same text in a JSON string.
        HiddenPlace.check(text, type: "text/plain")
    }

    /// A word of letters counts as a password where only a password is possible.
    @Test(arguments: [
        #"{"op":"replace","path":"/password","value":"correcthorsy"}"#, #"{"type":"password","value":"correcthorsy"}"#,
        #"[["user","ada"],["password","correcthorsy"]]"#, #"{"http://schema.org/password":"correcthorsy"}"#, #"{"pass":"correcthorsy"}"#,
        #"{"credential":"correcthorsy"}"#, #"{"outputs":{"conn":{"value":"correcthorsy","type":"string","sensitive":true}}}"#,
    ])
    func passwordOfLetters(text: String) {
        #expect(!RedactionFixtures.body(text).contains("correcthorsy"))
    }

    @Test(arguments: [
        #"{"op":"remove","path":"/password"}"#, #"{"op":"replace","path":"/password","value":null}"#,
        #"{"op":"replace","path":"/name","value":"ada1815"}"#, #"{"type":"password","value":"Enter your password"}"#,
        #"{"name":"password","type":"string","value":"string"}"#, #"{"required":["password","username"]}"#,
        #"{"fields":["name","password","email","token","session"]}"#, #"["password","email"]"#,
        #"{"paths":{"/oauth/token":{"post":{"summary":"Get a token","description":"value"}}}}"#,
        #"{"password":{"type":"string","minLength":8}}"#, #"{"name":"x","sensitive":false,"value":"abc12345"}"#,
        #"{"sensitive":true,"value":null}"#, #"{"Type":"String","Value":"h7nter2Xq"}"#, #"{"masked":false,"value":"h7nter2Xq"}"#,
        #"{"encrypted":true,"name":"h7nter2Xq"}"#, "<Type>SecureString</Type><Name>h7nter2Xq</Name>",
        #"{"@context":{"secret":"https://w3id.org/security#secret","password":"http://schema.org/password"}}"#,
        #"{"https://w3id.org/security#secret":{"@id":"https://w3id.org/security#secret","@type":"@json"}}"#,
    ])
    func namesWithoutASecret(text: String) { HiddenPlace.stays(text, type: "application/json") }

    // MARK: Names that are everyday words

    @Test(arguments: [
        ("application/x-www-form-urlencoded", "user=ada&pass=h7nter2Xq"), ("application/x-www-form-urlencoded", "pass=h7nter2Xq"),
        ("application/x-www-form-urlencoded", "user=ada;pass=h7nter2Xq;x=1"),
        ("application/x-www-form-urlencoded", "a=b&credential=h7nter2Xq"),
        ("application/json", #"{"user":"ada","pass":"h7nter2Xq"}"#),
        ("application/json", #"{"dbPass":"h7nter2Xq","mail_pass":"h7nter2Xq"}"#),
        ("text/plain", "DB_PASS=h7nter2Xq\n"), ("application/xml", "<a><pass>h7nter2Xq</pass></a>"),
    ])
    func shortNamesOfPasswords(type: String, text: String) { HiddenPlace.check(text, type: type) }

    @Test(arguments: [
        #"{"pass":5,"fail":2}"#, #"{"pass":12345,"fail":2}"#, #"{"pass":true}"#, #"{"pass":"yes"}"#, #"{"pass":"passed"}"#,
        #"{"result":"pass"}"#,
        #"{"pass":"Boarding pass"}"#, #"{"first_pass":"done","second_pass":"failed"}"#, "pass: 12\nfail: 3\n",
        "ok 3 tests pass\npass=3 fail=1\n",
        "fetch(u, {credentials: 'same-origin', mode: \"cors\"})", #"{"credentials":"omit"}"#, #"{"credential":"Teacher certificate"}"#,
    ])
    func outcomesOfTests(text: String) { HiddenPlace.stays(text, type: "text/plain") }

    @Test func semicolonsDivideQueries() {
        #expect(
            RedactionFixtures.url("http://h.test/login?user=ada;password=X7y8z;x=1")
                == "http://h.test/login?user=ada;password={{password:1}};x=1")
        #expect(RedactionFixtures.url("http://h.test/a;password=X7y8z/b?x=1") == "http://h.test/a;password={{password:1}}/b?x=1")
        for url in ["http://h.test/a;b=c;d=e?x=1;2", "http://h.test/?pass=true&a=1", "http://h.test/?pass=1"] {
            #expect(RedactionFixtures.url(url) == url)
        }
    }
}
