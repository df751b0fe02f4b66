@testable internal import TapeExchange
internal import Testing

@Suite struct TunnelStateTests {
    @Test func secondEndClosesBothSides() {
        var state = TunnelState()
        #expect(state.sideEnded(.client) == .closeOutput(.upstream))
        #expect(state.sideEnded(.upstream) == .closeBoth)
    }

    @Test func upstreamMayEndFirst() {
        var state = TunnelState()
        #expect(state.sideEnded(.upstream) == .closeOutput(.client))
        #expect(state.sideEnded(.client) == .closeBoth)
    }

    @Test func sameEndTwiceWaits() {
        var state = TunnelState()
        #expect(state.sideEnded(.client) == .closeOutput(.upstream))
        #expect(state.sideEnded(.client) == .wait)
        #expect(state.sideEnded(.upstream) == .closeBoth)
        #expect(state.sideEnded(.upstream) == .wait)
    }
}

@Suite struct ProtocolSnifferTests {
    private func sniff(_ text: String) -> ProtocolSniffer { ProtocolSniffer(Array(text.utf8)) }

    @Test func aHandshakeRecordIsTLS() {
        #expect(ProtocolSniffer([0x16]) == .needsMore)
        #expect(ProtocolSniffer([0x16, 3, 1]) == .tls)
        #expect(ProtocolSniffer([0x16, 1]) == .other)
    }

    @Test(arguments: [
        "GET /", "OPTIONS * HTTP/1.1\r\n", "POST http://h/", "UPDATEREDIRECTREF /", "M-SEARCH * HTTP/1.1\r\n", "\r\nGET / HTTP/1.1\r\n",
        "\r\n\r\n\nGET /",
        "GET foo HTTP/1.1\r\n", "GET ?q HTTP/1.0\r\n", "get / HTTP/1.1\r\n", "GET  / HTTP/1.1\r\n", "GET h:443 HTTP/1.1\n",
        "GET \u{FC} HTTP/1.1\r\n",
        "DELETE a b HTTP/1.1\r\n",
    ])
    func aRequestLineIsHTTPHoweverOddItsTarget(text: String) {
        #expect(self.sniff(text) == .http)
    }

    @Test(arguments: [
        "EHLO client.test\r\n", "USER anonymous\r\n", "NICK a\r\n", "PRI * HTTP/1.1\r\n", "PRI / HTTP/2.0\r\n", "GET foo\r\n",
        "GET foo HTTP/2.0\r\n",
        "SSH-2.0-OpenSSH_9\r\n", "GET/ HTTP/1.1\r\n", " GET / HTTP/1.1\r\n", "\u{0}\u{1}", "{\"a\": 1}", "GET foo HTTP/1\r\n",
        "OPTIONS * RTSP/1.0\r\n", "DESCRIBE rtsp://h/ RTSP/1.0\r\n", "OPTIONS sip:h SIP/2.0\r\n",
        "0032git-upload-pack /b.git\u{0}host=git.test\u{0}",
    ])
    func anythingElseIsNotOurs(text: String) {
        #expect(self.sniff(text) == .other)
    }

    @Test(arguments: ["", "\r\n", "G", "GET", "GET ", "GET foo", "GET foo HTTP/1.1", "get /", "OPTIONS *", "OPTIONS * HTTP/1.1"])
    func aBeginningNeedsMore(text: String) {
        #expect(self.sniff(text) == .needsMore)
    }

    @Test func thePrefaceOfHTTP2IsHTTP() {
        #expect(self.sniff("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") == .http)
        #expect(self.sniff("PRI * HTTP/2.0\r") == .needsMore)
    }

    @Test func aLineWithoutAnEndIsNotWaitedForForEver() {
        #expect(self.sniff("EHLO " + String(repeating: "x", count: 20_000)) == .other)
        #expect(self.sniff(String(repeating: "x", count: 20_000)) == .other)
    }

    @Test func everyBeginningOfALineNeedsMoreOrSaysTheSame() {
        for line in [
            "GET foo HTTP/1.1\r\n", "OPTIONS * RTSP/1.0\r\n", "OPTIONS * HTTP/1.1\r\n", "EHLO client\r\n", "\r\nPOST /a HTTP/1.1\r\n",
            "PRI * HTTP/2.0\r\n", "0006git /b\u{0}h\u{0}",
        ] {
            let whole = self.sniff(line)
            for count in 0..<line.utf8.count {
                let part = ProtocolSniffer(line.utf8.prefix(count))
                #expect(part == .needsMore || part == whole, "\(line.prefix(count))")
            }
        }
    }

    @Test(arguments: [
        ("*1\r\n$4\r\nPING\r\n", true), ("PING\r\n", true), ("AMQP\u{0}", true), ("\u{10}\u{e}", true), ("a1 LOGIN eve pw\r\n", true),
        ("CONNECT {\"verbose\":false}\r\n", true), ("EHLO a\r\n", true), ("{\"a\": 1}", true), ("\r\n\u{0}", true),
        // Broken requests are the parser's, which says what is wrong.
        ("GET / HTTP/1.1\r\n", false), ("get / HTTP/1.1\r\n", false), ("\r\nCONNECT a:443 HTTP/1.1\r\n", false), ("GET /\r\n", false),
        ("GET a HTTP/2\r\n", false), ("PRI / HTTP/1.1\r\n", false), ("GET\t/ HTTP/1.1\r\n", false), ("OPTIONS * HTTP/1.1\r\n", false),
        ("", false), ("\r\n", false), ("GET", false), ("a1 LOGIN", false),
    ]) func bytesThatAreNoRequestAreForeign(text: String, isForeign: Bool) {
        #expect(ProtocolSniffer.isForeign(Array(text.utf8)) == isForeign)
        #expect(!ProtocolSniffer.isForeign(Array("get /\(String(repeating: "a", count: 20_000))".utf8)))
    }

    @Test func emptyLinesAloneAreBlank() {
        #expect(ProtocolSniffer.isBlank(Array("\r\n\n".utf8)))
        #expect(!ProtocolSniffer.isBlank(Array("\r\nG".utf8)))
    }
}
