import CassetteModel
import TapeTestSupport
import Testing
@testable import TapeProxy

@Suite struct ForwardedResponseTests {
    @Test func anAnswerThatComesByteByByteIsTheSame() throws {
        let text = "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nT: 1\r\n\r\n"
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /")
            for byte in text.utf8 { try connection.send([byte]) }
        }
        let (answer, recorded) = try LiveAndReplayed.compare(origin) { client in
            try client.send(origin.request())
            return LiveAndReplayed.Answer(bytes: try client.read(through: "T: 1\r\n\r\n"))
        }
        #expect(answer.text == text)
        #expect(recorded.first?.interim.map(\.status) == [103])
        #expect(recorded.first?.outcome == .complete)
    }

    @Test func tooManyInterimAnswersAreNoAnswer() throws {
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

    @Test func anAnswerBeforeTheRequestsEndIsPassedOnAndSoIsTheRest() throws {
        let gate = Gate("the client has the answer")
        let origin = try RawOrigin { connection in
            try connection.expectRequest("POST /")
            try connection.expect("part")
            try connection.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nno!")
            try gate.wait()
            try connection.expect("-rest")
            try connection.expectRequest("GET /next")
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        try client.send(origin.request("POST", "/", "Content-Length: 9", body: "part"))
        try client.expect("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nno!")
        gate.open()
        try client.send("-rest" + origin.request("GET", "/next"))
        try client.expect("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        origin.finish()
        let recorded = try #require(try proxy.recorded().first)
        #expect(recorded.response?.status == 413)
        #expect(recorded.request.body?.isComplete == true)
    }
}
