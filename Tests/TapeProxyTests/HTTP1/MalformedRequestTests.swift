import CassetteStore
import TapeBytes
import TapeTestSupport
import Testing
@testable import TapeProxy

@Suite struct MalformedRequestTests {
    @Test(
        arguments: [
            "GET /\r\n\r\n", "GET http://h/ HTTP/1.1\r\n\r\n", "GET http://h/ HTTP/1.1\r\nHost: h\r\nA b: c\r\n\r\n",
            "GET http://h/ HTTP/2.0\r\nHost: h\r\n\r\n", "GET  http://h/ HTTP/1.1\r\nHost: h\r\n\r\n",
            "POST http://h/ HTTP/1.1\r\nHost: h\r\nContent-Length: 1, 1\r\n\r\n",
            "POST http://h/ HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n",
            "POST http://h/ HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n",
            "GET http://h/ HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n",
            "GET http://h/ HTTP/1.1\nHost: h\n\n", "CONNECT h HTTP/1.1\r\nHost: h\r\n\r\n", "CONNECT h:99999 HTTP/1.1\r\nHost: h\r\n\r\n",
        ])
    func aRequestThatIsNotHTTPIsRefusedAndReachesNoOrigin(bad: String) throws {
        let origin = try RawOrigin()
        let proxy = try RunningProxy()
        let request = bad.replacing("http://h/", with: "http://\(origin.authority)/")
        let answer = try proxy.ask(request + origin.request("GET", "/smuggled"))
        let status = answer.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        #expect((400...505).contains(status), "\(answer)")
        #expect(answer.contains("\r\nWiretape-Error: bad-request\r\n"))
        #expect(answer.contains("\r\nConnection: close\r\n"))
        #expect(origin.accepted == 0)
        #expect(proxy.server.counts.malformed == 1)
        #expect(try proxy.recorded().isEmpty)
    }

    /// The whole request is there before the connection to the origin is, or comes afterwards.
    @Test(arguments: [true, false]) func everythingBeforeAMalformedChunkReachesTheOrigin(isEarly: Bool) throws {
        let hasHead = Gate("the head")
        let got = Guarded("")
        let origin = try RawOrigin { connection in
            let head = String(decoding: try connection.read(through: "\r\n\r\n"), as: UTF8.self)
            hasHead.open()
            let rest = String(decoding: try connection.readToEnd().bytes, as: UTF8.self)
            got.withLock { $0 = head + rest }
        }
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        let head = origin.request("POST", "/", "Transfer-Encoding: chunked")
        try client.send(isEarly ? head + "3\r\nabc\r\nzz\r\n" : head)
        if !isEarly {
            try hasHead.wait()
            try client.send("3\r\nabc\r\nzz\r\n")
        }
        #expect(String(decoding: try client.readMessage(), as: UTF8.self).hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        origin.finish()
        #expect(got.withLock { $0 }.hasSuffix("\r\n\r\n3\r\nabc\r\n"), "\(got.withLock { $0 })")
        #expect(try proxy.recorded().first?.request.body?.size == 3)
    }

    @Test func aHeadOf100KiBIsTooLarge() throws {
        let origin = try RawOrigin()
        let proxy = try RunningProxy()
        let lines = (0..<100).map { "X-\($0): " + String(repeating: "x", count: 1024) }.joined(separator: "\r\n")
        let answer = try proxy.ask("GET http://\(origin.authority)/ HTTP/1.1\r\nHost: \(origin.authority)\r\n\(lines)\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 431 Request Header Fields Too Large\r\n"))
        #expect(origin.accepted == 0)
    }

    @Test func anAbsoluteRequestForHTTPSGetsAdviceToUseATunnel() throws {
        let proxy = try RunningProxy(.passthrough)
        let answer = try proxy.ask("GET https://h/ HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 501 Not Implemented\r\nWiretape-Error: scheme\r\n"))
    }
}
