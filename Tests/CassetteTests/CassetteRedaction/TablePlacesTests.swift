import Testing

@testable import CassetteRedaction

/// Values in tables and rows whose columns are named before them.
@Suite struct TablePlacesTests {
    @Test(arguments: [
        "| user | password |\n|------|----------|\n| ada | h7nter2Xq |\n", "user | password\n--- | ---\nada | h7nter2Xq\n",
        "text\n\n| user | `password` |\n|:-----|-----------:|\n| ada | `h7nter2Xq` |\n\nmore\n",
        " user | password \n------+----------\n ada  | h7nter2Xq\n(1 row)\n",
        "+------+-----------+\n| user | password  |\n+------+-----------+\n| ada  | h7nter2Xq |\n+------+-----------+\n",
        "INSERT INTO users (name, password) VALUES ('a','h7nter2Xq');",
        "insert into `users` (`name`, `password`, `x`) values ('a', 'b''c', 3), ('b', 'h7nter2Xq', 4);",
        "INSERT INTO [Users] ([Name], [Password]) VALUES (N'a', N'h7nter2Xq')", "REPLACE INTO t (a,password) VALUES (now(), 'h7nter2Xq')",
    ])
    func columnsOfSecrets(text: String) { HiddenPlace.check(text, type: "text/plain") }

    @Test(arguments: [
        "| name | type |\n|---|---|\n| password | string |\n| token | string |\n", "| option | password |\n|---|---|\n| required | yes |\n",
        "| token | meaning |\n|---|---|\n| house | a word |\n", "INSERT INTO fields (name, type) VALUES ('password', 'text1');",
        "INSERT INTO users (name, password) VALUES (?, ?);", "INSERT INTO users (name, password) VALUES ($1, $2)",
        "INSERT INTO users (name, password) VALUES (:name, :password)", "the values (a, b) of a -- b | c\n",
    ])
    func tablesWithoutASecret(text: String) { HiddenPlace.stays(text, type: "text/plain") }

    /// Half a megabyte of row and table beginnings takes linear time, not quadratic.
    @Test func beginningsAreLookedAtOnce() {
        for text in [
            "into t (password) values (", "| password |\n|--|\n", "? password\n: *a\n", "Bearer ", "ENV PASSWORD ", "\"sensitive\":true,",
        ] {
            let body = String(repeating: text, count: 500_000 / text.utf8.count)
            let counted = Array(body.utf8).withUnsafeBytes { TextSurvey.findings(in: $0) }
            #expect(counted.reduce(0) { $0 + $1.secret.count } <= body.utf8.count)
        }
    }
}
