import Testing

@testable import CassetteRedaction

/// `name = value` in the middle of a line, `The password is X`, and what looks alike in programs and sentences.
@Suite struct ValueAmongWordsTests {
    @Test(arguments: [
        "the password = h7nter2Xq", "2024-01-01 INFO db password = h7nter2Xq done", "x; token = h7nter2Xq; y",
        "2024-01-01 12:00 [x] password: h7nter2Xq", "[api_key => h7nter2Xq]", "user = bob, password = h7nter2Xq, db = x",
        "set token = h7nter2Xq.", "(secret = h7nter2Xq)", "login with apiKey = h7nter2Xq now", "password = h7nter2Xq done",
        "the password is h7nter2Xq", "Your password is: h7nter2Xq\n", "db.password h7nter2Xq\n", "a = 1 client_secret = h7nter2Xq",
        "(password: h7nter2Xq)", "password := \"h7nter2Xq\"", "if password == h7nter2Xq then", "password -> h7nter2Xq",
        "let password:='h7nter2Xq'",
        "The password was set to h7nter2Xq.", "Password was changed to h7nter2Xq",
    ])
    func valueIsRemoved(text: String) { HiddenPlace.check(text, type: "text/plain", inJSON: !text.contains("db.")) }

    @Test(arguments: [
        "the password = your birthday", "if (token = nextToken2) { go() }", "let token = utf8Bytes16;", "x; key = sha256Hash1; y",
        "a password = correct", "var password = sha1_hash;", "const secret = x1 + y2", "the token = abc.def2", "when token = 12345678",
        "for (token = 0; token < 10; token += 1)", "set password = base64_decode2 here", "the password = 8 characters",
        "and tokens = 4096k max",
        "a token = make(1)", "x secret = keys[1]", "where password = ? and token = :token1", "the session = 02T10",
        "and token = null, key = b64",
        "the password is required", "Password is at least 8 characters", "if password is None: pass", "the token = 10ms",
        "let x = token = y2",
        "my password = input2 or default", "old password = new_password2", "its token = v1.2.3", "your password\nis h7 or so",
        "The Basic plan has no password = field", "password policy1 applies",
        "\"arn:aws:secretsmanager:us-west-2:123456789012:secret:MyTest-a1b2c3\"",
        "login(password: utf8Bytes16)", "USER_PASSWD = \"%s:%s\" % (USER, PASSWD)", "a.password policy\n",
    ])
    func wordsAndExpressionsStay(text: String) { HiddenPlace.stays(text, type: "text/plain") }

    @Test func namesOfProgramsAreToldFromPasswords() {
        for (text, isExpression) in [
            ("utf8Bytes16", true), ("next_token2", true), ("a.b2", true), ("x1+10", true), ("2024-01-02T10", true), ("sha256sum", true),
            ("h7nter2Xq", false), ("Zq45xnJGrEgU6T", false), ("Passw0rd1", false), ("9775a026f1ca7d1c", false), ("p-h7nter2Xq", false),
        ] {
            let found = Array(text.utf8).withUnsafeBytes { NamedValue.isExpression($0[...]) }
            #expect(found == isExpression, "\(text)")
        }
    }

    /// Each byte of a value is examined once, however many names precede it.
    @Test func manyNamesSpendTheBudget() {
        let text = String(repeating: "token = a1b2c3d4e5 ", count: 60_000)
        let budget = SearchBudget(work: 8 << 20)
        _ = Array(text.utf8).withUnsafeBytes { TextSurvey.survey($0, budget: budget) }
        #expect(budget.isSpent)
    }
}
