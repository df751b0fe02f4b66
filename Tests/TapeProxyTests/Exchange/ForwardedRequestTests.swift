import Testing
@testable import TapeProxy

@Suite struct ForwardedRequestTests {
    @Test(arguments: ["xyz", "-2", "2 ", ""]) func aBadChunkOfTheClientIsTheClientsFault(size: String) throws {
        let origin = try RawOrigin { connection in _ = try connection.readToEnd() }
        let proxy = try RunningProxy()
        let answer = try proxy.ask(origin.request("POST", "/", "Transfer-Encoding: chunked") + "\(size)\r\nab\r\n0\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\nWiretape-Error: bad-request\r\n"), "\(answer)")
        #expect(answer.contains("Connection: close"))
        #expect(proxy.server.counts.malformed == 1)
        origin.finish()
    }
}
