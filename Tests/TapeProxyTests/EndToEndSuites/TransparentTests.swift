import NIOCore
import TapeTestSupport
@testable import TapeProxy
import Testing

@Suite struct TransparentTests {
    @Test func plainProxyRequestsWorkInTransparentModeToo() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.expectRequest("GET /a")
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        }
        let proxy = try RunningProxy { $0.isTransparent = true }
        #expect(try proxy.ask(origin.request("GET", "/a", "Connection: close")).hasSuffix("hi"))
        origin.finish()
    }

    @Test func aConnectionIsOwnUntilItCloses() throws {
        let transparent = Transparent()
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: 9)
        transparent.dialled(from: address)
        #expect(transparent.isOwn(address))
        transparent.closed(from: address)
        #expect(!transparent.isOwn(address))
    }
}
