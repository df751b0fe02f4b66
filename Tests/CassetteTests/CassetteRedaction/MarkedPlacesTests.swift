import Testing

@testable import CassetteRedaction

/// Names that an arrow, dots, a bar, a tab or a comparison separates from their values.
@Suite struct MarkedPlacesTests {
    @Test(arguments: [
        "password => h7nter2Xq", "password=> h7nter2Xq", "password -> h7nter2Xq", "token -> h7nter2Xq end", "db.password -> h7nter2Xq",
        "password ------> h7nter2Xq", "password ~> h7nter2Xq", "password >> h7nter2Xq", "password → h7nter2Xq", "api_key ➜ h7nter2Xq",
        "password == \"h7nter2Xq\"", "if (password == \"h7nter2Xq\") {", "password != \"h7nter2Xq\"", "password === 'h7nter2Xq'",
        "password==\"h7nter2Xq\"", "assert token == \"h7nter2Xq\"", "password == h7nter2Xq",
        "Password............: h7nter2Xq", "Password ........ h7nter2Xq", "Password..........h7nter2Xq", "API key....: h7nter2XqZp8Lm94vT",
        "Password ............. : h7nter2Xq", "Password ___: h7nter2Xq",
    ])
    func arrowsComparisonsAndDots(text: String) { HiddenPlace.check(text, type: "text/plain") }

    @Test(arguments: [
        "| password | h7nter2Xq |", "| user | ada |\n| password | h7nter2Xq |\n", "| **Password** | `h7nter2Xq` |",
        "+----------+-----------+\n| password | h7nter2Xq |\n+----------+-----------+\n", "│ password │ h7nter2Xq │",
        "║ token ║ h7nter2Xq ║",
        "-[ RECORD 1 ]-------\nuser     | ada\npassword | h7nter2Xq\n", "|| password || h7nter2Xq ||", "|===\n|password |h7nter2Xq\n|===",
        "| user | password |\n| ada | h7nter2Xq |\n", "user | password\nada | h7nter2Xq\n",
        "┌──────┬───────────┐\n│ user │ password  │\n├──────┼───────────┤\n│ ada  │ h7nter2Xq │\n└──────┴───────────┘\n",
        "╔══════╦═══════════╗\n║ user ║ password  ║\n╠══════╬═══════════╣\n║ ada  ║ h7nter2Xq ║\n╚══════╩═══════════╝\n",
        "password\th7nter2Xq", "user\tada\npassword\th7nter2Xq\n", "password\t\th7nter2Xq", "api_key\th7nter2Xq\n",
        "password    h7nter2Xq\n",
        "user     ada\npassword h7nter2Xq\n", "api_key  h7nter2Xq\n",
    ])
    func columns(text: String) { HiddenPlace.check(text, type: "text/plain") }

    @Test(arguments: [
        "spec: {env: [{name: DB_PASSWORD, value: h7nter2Xq}]}", "env: [{name: TOKEN, value: \"h7nter2Xq\"}]",
        "- name: API_TOKEN\n  value: \"h7nter2Xq\"\n", "- {name: password, value: h7nter2Xq}", "- key: password\n  value: h7nter2Xq\n",
        "{password: h7nter2Xq, user: ada}",
        "resource \"x\" \"y\" {\n  password = \"h7nter2Xq\"\n}\n",
        "variable \"db_password\" {\n  type = string\n  default = \"h7nter2Xq\"\n}\n",
        "variable \"db_password\" {\n  description = \"of the db\"\n  sensitive   = true\n  default     = \"h7nter2Xq\"\n}\n",
        "variable \"password\" { default = \"h7nter2Xq\" }", "output \"password\" {\n  value = \"h7nter2Xq\"\n}\n",
        "variable \"api_token\" {\n  default = <<EOT\nh7nter2Xq\nEOT\n}\n", "set {\n  name  = \"password\"\n  value = \"h7nter2Xq\"\n}\n",
        "env {\n  name = \"API_TOKEN\"\n  value = \"h7nter2Xq\"\n}\n",
    ])
    func settings(text: String) { HiddenPlace.check(text, type: "text/plain") }

    /// These are written in make and in YAML, whose lines are not looked for in strings.
    @Test(arguments: ["PASSWORD ?= h7nter2Xq\n", "PASSWORD += h7nter2Xq\n", "- value: h7nter2Xq\n  name: DB_PASSWORD\n"])
    func settingsOnLines(text: String) { HiddenPlace.check(text, type: "text/plain", inJSON: false) }

    @Test(arguments: [
        "{:user \"ada\" :password \"h7nter2Xq\"}", "{:api-key \"h7nter2Xq\"}", "{:token \"h7nter2Xq\" :a 1}",
        "{:db/password \"h7nter2Xq\"}",
        "{:password, \"h7nter2Xq\"}", "{:password\n \"h7nter2Xq\"}", "(def api-key \"h7nter2Xq\")", "(setq token \"h7nter2Xq\")",
        "((token . \"h7nter2Xq\"))", "[:api-key \"h7nter2Xq\"]",
    ])
    func symbolsOfLisp(text: String) { HiddenPlace.check(text, type: "application/edn") }

    @Test(arguments: [
        "a.b.\"api-key\" = \"h7nter2Xq\"\n", "\"a\".\"password\" = 'h7nter2Xq'\n", "a.\"b\".c = \"z\"\nx.'password' = \"h7nter2Xq\"\n",
        "a.b.\"password\"=\"h7nter2Xq\"\n", "t = { a.\"password\" = \"h7nter2Xq\" }\n", "db.\"user-password\" = \"h7nter2Xq\"\n",
    ])
    func dottedKeysInQuotes(text: String) { HiddenPlace.check(text, type: "application/toml") }

    @Test(arguments: [
        "<map><entry><string>password</string><string>h7nter2Xq</string></entry></map>",
        "<map>\n  <entry>\n    <string>password</string>\n    <string>h7nter2Xq</string>\n  </entry>\n</map>",
        "<hashtable><entry><string>apiKey</string><string>h7nter2Xq</string></entry></hashtable>",
        "<java><void method=\"put\"><string>password</string><string>h7nter2Xq</string></void></java>",
        "<map><entry><java.lang.String>password</java.lang.String><java.lang.String>h7nter2Xq</java.lang.String></entry></map>",
        "<entry><key><string>password</string></key><value><string>h7nter2Xq</string></value></entry>",
        "<entry><string>password</string><char-array>h7nter2Xq</char-array></entry>",
        "<init-param><param-name>apiKey</param-name><param-value>h7nter2Xq</param-value></init-param>",
        "<env-entry><env-entry-name>password</env-entry-name><env-entry-type>java.lang.String</env-entry-type><env-entry-value>h7nter2Xq</env-entry-value></env-entry>",
    ])
    func entriesOfMaps(text: String) { HiddenPlace.check(text, type: "application/xml") }

    @Test(arguments: [
        "password => string", "items.map(token => token.value)", "tokens.map(token => parse2(token))", "case token => foo2bar",
        "if (password == null) {", "if (token == TOKEN_EOF2)", "if key == \"ArrowUp2\" {", "if token == \"end\" then",
        "fun f(password: String) -> Result2",
        "fn token(a: u8) -> Token2", "password -> hash(sha256)", "Table of Contents\nPasswords............12\nTokens..........Chapter2\n",
        "Password rules ........ page14", "Password...: none", "Checking password ...... passed",
        "| password | string |", "| password | The password of the user |", "| token | string | Your API token (v2) |",
        "| `token` | varchar(255) | NO |", "| password | varchar255 | NO |", "| Key | Ctrl+F12 |", "| password | 8.1.2 |",
        "| `--token` | `GITHUB_TOKEN2` |", "| password | min_length=8 |", "cat x | password | wc2", "| token | 0.75 |",
        "password\tstring", "token\tNN1", "key\tvalue2", "tokens\t12345678", "Password   required", "Token   Type2",
        "password    optional2\n",
        "the password abc123def is", "the token foo2bar was seen", "passwd ada12345", "token stream2go",
        "{name: password, value: string}", "- {name: token, value: count}", "- name: password\n  value: required\n",
        "variable \"password_length\" {\n  default = 16\n}\n", "variable \"region\" {\n  default = \"t3a1b2c3d4\"\n}\n",
        "variable \"password\" {\n  type = string\n}\nvariable \"name\" {\n  default = \"abc123def4\"\n}\n",
        "output \"password\" {\n  value = random_password.x.result\n}\n", "password = var.password2", "{:token :token/type2}",
        "(token \"(\")",
        "(defn token \"doc 2 str\" [x])", "{:key \"a1b2\"}",
        "<entry><string>name</string><string>ada12345x</string></entry>", "<list><string>password</string><string>username</string></list>",
        "<fields><string>password</string><string>user2name</string><string>abc12345d</string></fields>",
    ])
    func wordsOfProgramsAndPagesStay(text: String) { HiddenPlace.stays(text, type: "text/plain") }

    /// A tenth of all random values have at most one digit, and resemble names of programs then.
    @Test(arguments: [
        "Password............: ZqfB4PbxntqBWIGkyxOoDF", "| password | ZqiIMWSWMPcwLuHjWECQJV |",
        "gh auth login --with-token <<< Zqr2ZZJRXTFwIfIJFZymYW",
        "{\"credentials\":{\"ada\":\"Zqm1CiAhzCueQpBenQtYhG\"}}",
        "{\"password\":{\"_\":\"ZqjvqPVStNKiaEdFrRgSnR\",\"$\":{\"Type\":\"PasswordText\"}}}",
    ])
    func randomLettersWithFewDigits(text: String) {
        #expect(!RedactionFixtures.body(text, type: "text/plain").contains("Zq"))
    }

    /// Half a megabyte of names and marks takes linear time.
    @Test func beginningsAreLookedAtOnce() {
        for text in [
            "password -> ", "token\t", "| password | ", "name: password\n", "variable \"password\" {\n", "{:token \"", "password......",
            "\"name\":\"password\",\"values\":[", "x],\"name\":\"password\",", "config set token ", "echo a | ", "<<< ", "vault login ",
            "mnemonic: abandon ", "<entry><string>password</string>", "Password .", "{\"credentials\":{", "a.\"password\"=",
        ] {
            let body = String(repeating: text, count: 500_000 / text.utf8.count)
            let counted = Array(body.utf8).withUnsafeBytes { TextSurvey.findings(in: $0) }
            #expect(counted.reduce(0) { $0 + $1.secret.count } <= body.utf8.count)
        }
    }
}
