import CassetteStore
import TapeTLS
import TapeTrust
import Testing
@testable import TapeProxy

@Suite struct ExchangeRouterTests {
    private let scene: TLSScene

    init() throws { self.scene = try TLSScene() }

    private func ask(_ connection: RawConnection, _ request: String) throws -> String {
        try connection.send(request)
        return String(decoding: try connection.readMessage(), as: UTF8.self)
    }

    @Test func aTunnelInsideTLSIsNotOpened() throws {
        let proxy = try self.scene.proxy(.newEpisodes, in: self.scene.emptyCassette())
        let stream = try self.scene.secure(proxy.connect(), to: "example.test:443")
        let answer = try self.ask(stream, "CONNECT next.test:443 HTTP/1.1\r\nHost: next.test:443\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 501 Not Implemented\r\nWiretape-Error: tunnel\r\n"))
        #expect(answer.contains("--passthrough example.test."))
        #expect(try proxy.recorded().isEmpty)
    }

    @Test func anotherSchemeThanTheTunnelsIsMisdirected() throws {
        let origin = try RawOrigin()
        let proxy = try self.scene.proxy(.newEpisodes, in: self.scene.emptyCassette())
        let stream = try self.scene.secure(proxy.connect(), to: origin.authority)
        let answer = try self.ask(stream, "GET http://\(origin.authority)/ HTTP/1.1\r\nHost: example.test\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 421 Misdirected Request\r\nWiretape-Error: scheme\r\n"))
        let plain = try proxy.connect()
        try TLSScene.tunnel(plain, to: origin.authority)
        #expect(try self.ask(plain, "GET https://h/ HTTP/1.1\r\nHost: h\r\n\r\n").hasPrefix("HTTP/1.1 421 "))
        #expect(origin.accepted == 0)
    }

    /// Otherwise neither a recording nor a replay would say that a request went nowhere.
    @Test(arguments: [RecordMode.newEpisodes, .none]) func whatATunnelDoesNotForwardIsReported(mode: RecordMode) throws {
        let proxy = try self.scene.proxy(mode, in: self.scene.emptyCassette())
        for request in [
            "GET /a HTTP/1.1\r\nHost: pay.test\r\n\r\n", "GET http://example.test/ HTTP/1.1\r\nHost: example.test\r\n\r\n",
            "CONNECT next.test:443 HTTP/1.1\r\nHost: next.test:443\r\n\r\n",
        ] {
            let stream = try self.scene.secure(proxy.connect(), to: "example.test:443")
            _ = try self.ask(stream, request)
        }
        let verdict = proxy.session.verdict()
        #expect(verdict.misses == (mode == .none ? 3 : 0) && verdict.reports.count == verdict.misses)
        #expect(verdict.reports.allSatisfy { $0.reason == .misdirected(tunnel: "example.test") })
        let notices = proxy.notices.lines
        #expect(notices.count == (mode == .none ? 0 : 3) && notices.allSatisfy { $0.contains("and not forwarded: ") }, "\(notices)")
    }

    @Test(arguments: ["*1\r\n$4\r\nPING\r\n", "AMQP\u{0}\u{0}\u{9}\u{1}", "\u{10}\u{e}\u{0}\u{4}MQTT", "a1 LOGIN eve pw\r\n"])
    func anotherProtocolInsideTLSIsNamed(bytes: String) throws {
        let proxy = try self.scene.proxy(.newEpisodes, in: self.scene.emptyCassette())
        let stream = try self.scene.secure(proxy.connect(), to: "example.test:6380")
        try stream.send(bytes)
        #expect(String(decoding: try stream.readToEnd().0, as: UTF8.self).hasPrefix("HTTP/1.1 400 "))
        #expect(
            proxy.notices.lines == [
                "a client spoke another protocol than HTTP inside TLS to \"example.test:6380\": to let it through unread, pass --passthrough example.test."
            ])
    }

    @Test func aMalformedRequestInsideIsRefusedAndTheTunnelEnds() throws {
        let origin = try RawOrigin()
        let proxy = try self.scene.proxy(.newEpisodes, in: self.scene.emptyCassette())
        for bad in [
            "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1, 1\r\n\r\n", "GET / HTTP/1.1\r\nHost:\r\n\r\n", "\u{16}\u{3}\u{1}\r\n\r\n",
        ] {
            let stream = try self.scene.secure(proxy.connect(), to: origin.authority)
            try stream.send(bad)
            let (answer, end) = try stream.readToEnd()
            #expect(String(decoding: answer, as: UTF8.self).contains("\r\nWiretape-Error: bad-request\r\n"), "\(bad.debugDescription)")
            #expect(end == .closed)
        }
        #expect(origin.accepted == 0)
        #expect(try proxy.recorded().isEmpty)
    }

    @Test func aTunnelIsUnreadWithoutAnAuthority() throws {
        let origin = try RawOrigin(
            self.scene.origin().plays { stream in
                try stream.expectRequest("GET /")
                try stream.send(TLSScene.answer("unread"))
            })
        let proxy = try RunningProxy()
        let connection = try proxy.connect()
        try TLSScene.tunnel(connection, to: origin.authority)
        let stream = try TLSClient(trusting: self.scene.origins).stream(over: connection)
        try stream.handshake()
        #expect(try self.ask(stream, TLSScene.request()) == TLSScene.answer("unread"))
        origin.finish()
        #expect(try proxy.recorded().isEmpty)
        #expect(proxy.server.counts.tunnels == 1)
    }

    @Test func aTunnelThatIsPassedThroughIsAMissOfAReplay() throws {
        let hosts = try HostPattern("example.test")
        let proxy = try self.scene.proxy(.none, in: self.scene.emptyCassette()) { $0.tls?.passthrough = [hosts] }
        let answer = try proxy.ask("CONNECT example.test:443 HTTP/1.1\r\nHost: example.test:443\r\nConnection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 424 Not In Cassette\r\n"))
        #expect(proxy.server.counts.misses == 1)
    }
}
