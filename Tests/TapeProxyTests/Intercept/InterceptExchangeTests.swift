import CassetteModel
import CassetteStore
@testable import TapeProxy
import TapeTLS
import TapeTestSupport
import TapeTrust
import Testing

/// The exchange's first moments. The end-to-end suites cover the tunnels that follow.
@Suite struct InterceptExchangeTests {
    private let scene: TLSScene

    init() throws { self.scene = try TLSScene() }

    @Test func aTunnelIsOpenBeforeAnOriginIsDialled() throws {
        let origin = try RawOrigin()
        let proxy = try self.scene.proxy()
        let client = try proxy.connect()
        try TLSScene.tunnel(client, to: origin.authority)
        #expect(origin.accepted == 0)
    }

    @Test func aHelloRightAfterTheCONNECTIsNotLost() throws {
        let proxy = try self.scene.proxy(.none, in: self.scene.emptyCassette())
        let client = try proxy.connect()
        try client.send(
            Array("CONNECT example.test:443 HTTP/1.1\r\nHost: example.test:443\r\n\r\n".utf8) + RecordedHello.bytes(self.scene.client))
        try client.expect("HTTP/1.1 200 Connection established\r\n\r\n")
        #expect(try client.read(count: 1) == [0x16])
    }
}

@Suite struct InterceptExchangeFailuresTests {
    private let scene: TLSScene

    init() throws { self.scene = try TLSScene() }

    @Test func aNameThatNoCertificateCanHoldEndsTheTunnel() throws {
        let proxy = try self.scene.proxy(.newEpisodes, in: self.scene.emptyCassette())
        let client = try proxy.connect()
        try TLSScene.tunnel(client, to: "a..b:443")
        let stream = try self.scene.client.stream(over: client, serverName: nil)
        #expect(throws: TLSFailure.self) { try stream.handshake() }
        #expect(try proxy.recorded().first?.request.method == "CONNECT")
    }
}

@Suite struct InterceptExchangeRelayTests {
    private let scene: TLSScene

    init() throws { self.scene = try TLSScene() }

    private func tunnel(_ proxy: RunningProxy, _ origin: RawOrigin) throws -> RawConnection {
        let client = try proxy.connect()
        try TLSScene.tunnel(client, to: origin.authority)
        return client
    }

    @Test func bytesKeepTheirOrderFromTheFirstOn() throws {
        let count = 200
        let words = (0..<count).map { "\u{1}\($0)," }
        let origin = try RawOrigin { connection in
            try connection.expect(words.joined())
            try connection.send("all")
        }
        let proxy = try self.scene.proxy()
        let client = try self.tunnel(proxy, origin)
        for word in words { try client.send(word) }
        try client.expect("all")
        origin.finish()
        #expect(proxy.server.counts.tunnels == 1)
    }

    @Test func bytesRightAfterTheCONNECTAreTheFirst() throws {
        let origin = try RawOrigin { connection in
            try connection.expect("\u{1}first")
            try connection.send("heard")
        }
        let proxy = try self.scene.proxy()
        let client = try proxy.connect()
        try client.send("CONNECT \(origin.authority) HTTP/1.1\r\nHost: \(origin.authority)\r\n\r\n\u{1}first")
        try client.expect("HTTP/1.1 200 Connection established\r\n\r\nheard")
        origin.finish()
    }

    @Test func anOriginThatLeavesAClientInSilenceEndsTheTunnel() throws {
        let origin = try RawOrigin { _ in }
        let proxy = try self.scene.proxy { $0.limits.tunnelSilence = 0 }
        let client = try self.tunnel(proxy, origin)
        try client.expectEnd()
        origin.finish()
        #expect(proxy.server.counts.tunnels == 0)
    }

    @Test func firstBytesOfAClientInHalvesAreForwardedWhole() throws {
        let dialled = Gate("the proxy has dialled")
        let origin = try RawOrigin { connection in
            dialled.open()
            // Neither half alone is a request or a hello.
            try connection.expect("GET no request\r\n")
            try connection.send("heard")
        }
        let proxy = try self.scene.proxy {
            $0.limits.tunnelSilence = 0
            $0.limits.requestHead = 2
        }
        let client = try self.tunnel(proxy, origin)
        try client.send("GET ")
        try dialled.wait()
        try client.send("no request\r\n")
        try client.expect("heard")
        origin.finish()
    }

    @Test func aTunnelThatIsPassedThroughByItsHelloIsNoSecondHello() throws {
        let tls = try self.scene.origin()
        let origin = try RawOrigin { connection in
            let stream = try tls.stream(over: connection)
            try stream.handshake()
            // The bytes that the client sent are all that arrived, once.
            try stream.send(stream.firstHeard)
            try stream.expectEnd()
        }
        let hosts = try HostPattern("example.test")
        let proxy = try self.scene.proxy { $0.tls?.passthrough = [hosts] }
        let stream = try TLSClient(trusting: self.scene.origins).stream(over: self.tunnel(proxy, origin))
        try stream.handshake()
        #expect(try stream.read(count: stream.firstSaid.count) == stream.firstSaid)
        stream.closeOutput()
        origin.finish()
    }

    @Test func aStopEndsARelayThatIsBeingDialled() throws {
        let origin = try RawOrigin { _ = try $0.readToEnd() }
        let proxy = try self.scene.proxy { $0.limits.grace = 1 }
        let client = try self.tunnel(proxy, origin)
        try client.send("\u{1}")
        try proxy.stop()
        _ = try client.readToEnd()
    }
}

@Suite struct InterceptExchangeTLSTests {
    private let scene: TLSScene

    init() throws { self.scene = try TLSScene() }

    @Test func aHelloByteByByteIsOneHello() throws {
        let origin = try RawOrigin(self.scene.origin().plays { _ = try $0.readToEnd() })
        let proxy = try self.scene.proxy()
        let client = try proxy.connect()
        try TLSScene.tunnel(client, to: origin.authority)
        for byte in try RecordedHello.bytes(self.scene.client) { try client.send([byte]) }
        // A handshake record with the answer.
        #expect(try client.read(count: 1) == [0x16])
        #expect(origin.accepted == 1)
        try proxy.stop()
        origin.finish()
    }

    @Test func bytesAfterAHelloDialNothingAgain() throws {
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
        try client.send(RecordedHello.bytes(self.scene.client))
        try heard.wait()
        // change_cipher_spec, as clients send it for middleboxes (RFC 8446, D.4).
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
