import TapeCore
import Testing
@testable import TapeProxy

@Suite struct ForwardedResponseTests {
    @Test func anAnswerThatComesOctetByOctetIsTheSame() throws {
        let text = "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nT: 1\r\n\r\n"
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /")
            for octet in text.utf8 { try connection.send([octet]) }
        }
        let (answer, recorded) = try LiveAndReplayed.compare(origin) { client in
            try client.send(origin.request())
            return LiveAndReplayed.Answer(octets: try client.read(through: "T: 1\r\n\r\n"))
        }
        #expect(answer.text == text)
        #expect(recorded.first?.interim.map(\.status) == [103])
        #expect(recorded.first?.outcome == .complete)
    }

    @Test func moreInterimAnswersThanAnybodyNeedsAreNoAnswer() throws {
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /")
            try connection.send(String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 17))
            _ = try connection.readToEnd()
        }
        let proxy = try RunningProxy()
        let answer = try proxy.ask(origin.request("GET", "/", "Connection: close"))
        #expect(answer.ranges(of: "HTTP/1.1 102 ").count == 16)
        #expect(answer.contains("HTTP/1.1 502 Bad Gateway\r\nWiretape-Error: malformed\r\n"))
        origin.finish()
    }

    @Test func protocolsDoNotChangeBeforeTheRequestHasEnded() throws {
        let origin = try RawOrigin { connection in
            try connection.expectRequest("POST /")
            try connection.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n")
            _ = try connection.readToEnd()
        }
        let proxy = try RunningProxy()
        let answer = try proxy.ask(origin.request("POST", "/", "Connection: Upgrade", "Upgrade: chat", "Content-Length: 9"))
        #expect(answer.hasPrefix("HTTP/1.1 502 Bad Gateway\r\nWiretape-Error: malformed\r\n"), "\(answer)")
        origin.finish()
    }

    @Test func anAnswerBeforeTheRequestsEndIsPassedOnAndEndsTheConnection() throws {
        let origin = try RawOrigin { connection in
            try connection.expectRequest("POST /")
            try connection.expect("part")
            try connection.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nno!")
            _ = try connection.readToEnd()
        }
        let proxy = try RunningProxy()
        let answer = try proxy.ask(origin.request("POST", "/", "Content-Length: 9", body: "part"))
        #expect(answer == "HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nno!")
        origin.finish()
        let recorded = try #require(try proxy.recorded().first)
        #expect(recorded.response?.status == 413)
        #expect(recorded.request.body?.isComplete == false)
    }
}
