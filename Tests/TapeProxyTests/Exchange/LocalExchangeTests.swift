import Testing
@testable import TapeProxy

@Suite struct LocalExchangeTests {
    private let page = "POST / HTTP/1.1\r\nHost: h\r\n"

    @Test func theRequestIsReadToItsEndBeforeTheNext() throws {
        let proxy = try RunningProxy(.passthrough)
        let client = try proxy.connect()
        try client.send(self.page + "Transfer-Encoding: chunked\r\n\r\n3\r\nGET\r\n0\r\n\r\n" + self.page + "Content-Length: 3\r\n\r\nGET")
        for _ in 0..<2 {
            #expect(String(decoding: try client.readMessage(), as: UTF8.self).contains("Wiretape-Error: origin-form"))
        }
    }

    @Test func aClientThatWaitsFor100GetsTheAnswerInstead() throws {
        let proxy = try RunningProxy(.passthrough)
        let answer = try proxy.ask(self.page + "Content-Length: 3\r\nExpect: 100-continue\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\nWiretape-Error: origin-form\r\n"))
        #expect(answer.contains("\r\nConnection: close\r\n"))
    }

    @Test func anInvalidBodyIsRefused() throws {
        let proxy = try RunningProxy(.passthrough)
        let answer = try proxy.ask(self.page + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n")
        #expect(answer.contains("Wiretape-Error: bad-request"))
        #expect(answer.contains("\r\nConnection: close\r\n"))
    }
}
