import TapeTLS
import TapeTestSupport
import Testing
@testable import TapeProxy

@Suite struct InterceptExchangeTLSTests {
    private let scene: TLSScene

    init() throws { self.scene = try TLSScene() }

    @Test func aHelloOctetByOctetIsOneHello() throws {
        let origin = try RawOrigin(self.scene.origin().plays { _ = try $0.readToEnd() })
        let proxy = try self.scene.proxy()
        let client = try proxy.connect()
        try TLSScene.tunnel(client, to: origin.authority)
        for octet in try RecordedHello.octets(self.scene.client) { try client.send([octet]) }
        // A handshake record with the answer.
        #expect(try client.read(count: 1) == [0x16])
        #expect(origin.accepted == 1)
        try proxy.stop()
        origin.finish()
    }

    @Test func moreBehindAHelloDialsNobodyAgain() throws {
        let heard = Gate("the origin has the hello")
        let go = Gate("the client has sent more")
        let tls = try self.scene.origin()
        let origin = try RawOrigin { connection in
            let stream = try tls.stream(over: connection)
            heard.open()
            try go.wait()
            try stream.handshake()
            _ = try stream.readToEnd()
        }
        let proxy = try self.scene.proxy()
        let client = try proxy.connect()
        try TLSScene.tunnel(client, to: origin.authority)
        try client.send(RecordedHello.octets(self.scene.client))
        try heard.wait()
        // change_cipher_spec, as clients send it for the sake of middleboxes (RFC 8446, D.4).
        try client.send([0x14, 3, 3, 0, 1, 1])
        _ = try proxy.ask("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        go.open()
        #expect(try client.read(count: 1) == [0x16])
        #expect(origin.accepted == 1)
        client.close()
        try proxy.stop()
        origin.finish()
    }
}
