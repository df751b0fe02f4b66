import TapeExchange
import Testing

@Suite struct FirstOctetsTests {
    private func look(_ text: String) -> FirstOctets { FirstOctets(Array(text.utf8)) }

    @Test func aHandshakeRecordIsTLSWhateverItsVersion() {
        for minor: UInt8 in 0...4 { #expect(FirstOctets([0x16, 3, minor, 0, 5, 1]) == .tls) }
        #expect(FirstOctets([0x16, 3]) == .tls)
        #expect(FirstOctets([0x16]) == .needsMore)
        #expect(FirstOctets([0x16, 2]) == .other)
        // An alert or application data does not begin a connection.
        #expect(FirstOctets([0x15, 3, 1]) == .other)
        #expect(FirstOctets([0x17, 3, 3]) == .other)
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\n", "POST /a", "OPTIONS * HTTP/1.1", "GET http://h/", "GET https://h/", "VERSION-CONTROL /", "M-SEARCH *",
        "UPDATEREDIRECTREF /",
    ])
    func aRequestLineIsHTTP(text: String) {
        #expect(self.look(text) == .http)
        // However it is cut, it is never taken for something else on the way.
        for count in 0..<text.utf8.count {
            let part = FirstOctets(Array(text.utf8.prefix(count)))
            #expect(part == .needsMore || part == .http)
        }
    }

    @Test(arguments: [
        "get / HTTP/1.1", " GET /", "GET  /", "GET\t/", "GET\r\n", "EHLO mail.test\r\n", "SSH-2.0-OpenSSH\r\n", "*1\r\n$4\r\nPING\r\n",
        "USER anonymous\r\n", "GET ftp://h/", "GET htt:", "-GET /", "ABCDEFGHIJKLMNOPQRSTU /", "\u{0}\u{0}", "GET1 /", "CONNECT h:443",
    ])
    func anythingElseIsNoneOfOurBusiness(text: String) { #expect(self.look(text) == .other) }

    @Test func thePrefaceOfHTTP2IsNotHTTP1() {
        #expect(self.look("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") == .other)
        #expect(self.look("PRI *") == .other)
        #expect(self.look("PRI") == .needsMore)
        #expect(self.look("PRIX *") == .http)
    }

    @Test func noMoreThanAMethodsLengthIsWaitedFor() {
        #expect(self.look(String(repeating: "A", count: 20)) == .needsMore)
        #expect(self.look(String(repeating: "A", count: 21)) == .other)
        #expect(self.look("") == .needsMore)
    }
}
