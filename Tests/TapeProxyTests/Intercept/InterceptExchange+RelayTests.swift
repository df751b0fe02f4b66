import TapeTestSupport
import TapeTrust
import Testing
@testable import TapeProxy

@Suite struct InterceptExchangeRelayTests {
    private let scene: TLSScene

    init() throws { self.scene = try TLSScene() }

    private func tunnel(_ proxy: RunningProxy, _ origin: RawOrigin) throws -> RawConnection {
        let client = try proxy.connect()
        try TLSScene.tunnel(client, to: origin.authority)
        return client
    }

    @Test func octetsKeepTheirOrderFromTheFirstOn() throws {
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

    @Test func wordsRightBehindTheCONNECTAreTheFirst() throws {
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

    @Test func aClientThatSaysItsFirstWordsInHalvesIsHeardWhole() throws {
        let dialled = Gate("the proxy has dialled")
        let origin = try RawOrigin { connection in
            dialled.open()
            // Neither half is a request or a hello by itself.
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
            // What the client sent is all that came, once.
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
