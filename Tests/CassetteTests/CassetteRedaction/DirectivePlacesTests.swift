import Testing

@testable import CassetteRedaction

/// Arguments of commands, settings after a space, and credentials after a scheme in programs.
@Suite struct DirectivePlacesTests {
    @Test(arguments: [
        "FROM x\nENV DB_PASSWORD h7nter2Xq\nRUN y\n", "FROM x\nENV API_TOKEN h7nter2Xq\nRUN y\n", "ENV A=b DB_PASSWORD=h7nter2Xq C=d\n",
        "AUTH h7nter2Xq\nGET x\n", "AUTH default h7nter2Xq\r\n", "127.0.0.1:6379> AUTH h7nter2Xq\n", "port 1\nrequirepass h7nter2Xq\n",
        "requirepass \"h7nter2Xq\"\n", "CONFIG SET requirepass h7nter2Xq\r\n", "USER ada\r\nPASS h7nter2Xq\r\n",
        "proxy_set_header X-Api-Key h7nter2Xq;\n", "add_header X-Api-Key \"h7nter2Xq\";\n",
        "? password\n: h7nter2Xq\n", "a: 1\n? \"password\"\n: 'h7nter2Xq'\n", "x: &pw h7nter2Xq\npassword: *pw\n",
    ])
    func argumentsOfDirectives(text: String) { HiddenPlace.check(text, type: "text/plain") }

    @Test(arguments: ["password = '''h7nter2Xq'''\n", "password = '''\nh7nter2Xq\n'''\n", "password = \"\"\"\nh7nter2Xq\"\"\"\n"])
    func literalsOnSeveralLines(text: String) { HiddenPlace.check(text, type: "application/toml", inJSON: false) }

    @Test func redisCountsTheBytesOfAPassword() {
        let text = "*2\r\n$4\r\nAUTH\r\n$9\r\nh7nter2Xq\r\n"
        #expect(RedactionFixtures.body(text, type: "text/plain") == "*2\r\n$4\r\nAUTH\r\n$14\r\n{{password:1}}\r\n")
    }

    @Test(
        arguments: [
            #"proxy_set_header Authorization "Bearer TOKEN";"#, "  proxy_set_header   Authorization   'Bearer TOKEN';",
            #"req.Header.Set("Authorization", "Bearer TOKEN")"#, #"RequestHeader set Authorization "Bearer TOKEN""#,
            #"http-request set-header Authorization "Bearer TOKEN""#, #".header(AUTHORIZATION, "Bearer TOKEN")"#,
            #"setValue("Bearer TOKEN", forHTTPHeaderField: "Authorization")"#, #"new AuthenticationHeaderValue("Bearer", "TOKEN")"#,
            "xhr.setRequestHeader('Authorization', 'Bearer TOKEN');", #"http GET h Authorization:"Bearer TOKEN""#,
        ], ["abcdEFGH1234567890", "QUJDREVGR0hJSktMTU5P"])
    func credentialsInPrograms(text: String, token: String) {
        let text = text.replacing("TOKEN", with: token)
        #expect(!RedactionFixtures.body(text, type: "text/plain").contains(token))
        let escaped = text.replacing("\"", with: "\\\"")
        #expect(!RedactionFixtures.body(#"{"line":"\#(escaped)\n"}"#).contains(token))
    }

    @Test func basicCredentialsInSettings() {
        let text = "proxy_set_header Authorization \"Basic YWRhOmh1bnRlcg==\";\n"
        #expect(RedactionFixtures.body(text, type: "text/plain") == "proxy_set_header Authorization \"Basic {{authorization:1}}\";\n")
    }

    @Test(arguments: [
        "AUTH required\n", "AUTH PLAIN LOGIN\r\n", "250-AUTH LOGIN PLAIN\r\n", "auth required pam_unix.so nullok\n",
        "auth sufficient pam_ldap2.so\n", "ENV PATH /usr/local/bin:$PATH\nENV TOKEN $TOKEN\nENV NODE_VERSION 20.1.0\n",
        "PASS tests/a.test.js\nPASS 12 tests\n", "--- PASS: TestFoo (0.00s)\nPASS\nok\n", "Use Bearer authentication, or Bearer tokens1.\n",
        "the Bearer token2024 is here\n", "basic authentication and Basic functions\n", "password: *pw\n", "? password\n: *pw\n",
        "a['password'] = '' + ''\n",
    ])
    func directivesWithoutASecret(text: String) { HiddenPlace.stays(text, type: "text/plain") }

    @Test func credentialsAmongProtocolsOfWebSockets() {
        for (value, redacted) in [
            ("bearer, abcdEFGH1234567890", "bearer, {{authorization:1}}"),
            ("graphql-ws, access_token, abcdEFGH1234567890", "graphql-ws, access_token, {{authorization:1}}"),
            (
                "base64url.bearer.authorization.k8s.io.YWJjZEVGR0gxMjM0, base64.binary.k8s.io",
                "base64url.bearer.authorization.k8s.io.{{authorization:1}}, base64.binary.k8s.io"
            ), ("openai-insecure-api-key.zz9plural7alpha", "openai-insecure-api-key.{{authorization:1}}"),
            ("graphql-transport-ws, chat.v2.example.com", "graphql-transport-ws, chat.v2.example.com"),
            ("mqtt, v12.stomp", "mqtt, v12.stomp"),
        ] { #expect(RedactionFixtures.lines(["Sec-WebSocket-Protocol: \(value)"]) == ["Sec-WebSocket-Protocol: \(redacted)"]) }
    }

    @Test func tokensInPathsAndTickets() {
        let telegram = "123456789:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc"
        #expect(!RedactionFixtures.url("https://api.telegram.org/bot\(telegram)/getMe").contains("AAEhBO"))
        #expect(RedactionFixtures.url("https://h.test/bottle/bot12:ab/x") == "https://h.test/bottle/bot12:ab/x")
        let hook = "223704706495545344/3d89bb7572e0fb30d8128367b3b1b44fecd1726de135cbe28a41f8b2f777c372ba29"
        #expect(!RedactionFixtures.url("https://discord.com/api/webhooks/\(hook)").contains("3d89bb"))
        #expect(!RedactionFixtures.url("https://app.test/?ticket=ST-1856339-aA5Yuvrxzpv8Tau1cYQ7").contains("aA5Y"))
        #expect(!RedactionFixtures.url("https://cas.test/v1/tickets/TGT-1-abcdefgh1234567890abcdefgh-cas01").contains("abcdefgh"))
        #expect(RedactionFixtures.url("https://h.test/?ticket=PROJ-1234") == "https://h.test/?ticket=PROJ-1234")
    }
}
