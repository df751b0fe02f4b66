import CassetteStore
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
