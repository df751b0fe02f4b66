import Testing
@testable import TapeProxy

@Suite struct TunnelRequestTests {
    @Test func requestsInsideATunnelGoWhereItGoes() throws {
        let scene = try TLSScene()
        let origin = try RawOrigin { connection in
            for path in ["/first", "/second"] {
                try connection.expectRequest("GET \(path)")
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\ninside")
            }
        }
        let proxy = try scene.proxy()
        let client = try proxy.connect()
        try TLSScene.tunnel(client, to: origin.authority)
        for path in ["/first", "/second"] {
            try client.send("GET \(path) HTTP/1.1\r\nHost: \(origin.authority)\r\n\r\n")
            #expect(String(decoding: try client.readMessage(), as: UTF8.self).hasSuffix("\r\n\r\ninside"))
        }
        origin.finish()
    }
}
