import CassetteStore
import TapeTLS
import TapeTrust
import Testing
@testable import TapeProxy

/// The magic host through a running proxy, over http and https. It is never dialled and never recorded.
@Suite struct MagicTunnelTests {
    private let scene: TLSScene

    init() throws { self.scene = try TLSScene() }

    private func secure(_ proxy: RunningProxy, client: TLSClient? = nil) throws -> TLSStream {
        let connection = try proxy.connect()
        try TLSScene.tunnel(connection, to: "wiretape.test:443")
        let stream = try (client ?? self.scene.client).stream(over: connection, host: "wiretape.test", serverName: "wiretape.test")
        try stream.handshake()
        return stream
    }

    private func ask(_ connection: RawConnection, _ target: String, method: String = "GET") throws -> String {
        try connection.send("\(method) \(target) HTTP/1.1\r\nHost: wiretape.test\r\n\r\n")
        return String(decoding: try connection.readMessage(), as: UTF8.self)
    }

    @Test(arguments: [RecordMode.all, .none, .passthrough]) func itAnswersInTheClearAndOverTLS(mode: RecordMode) throws {
        let proxy = try self.scene.proxy(mode, in: self.scene.emptyCassette())
        let plain = try proxy.connect()
        let tunnel = try proxy.connect()
        try TLSScene.tunnel(tunnel, to: "wiretape.test:80")
        for (connection, prefix) in [(plain, "http://wiretape.test"), (tunnel, ""), (try self.secure(proxy), "")] {
            #expect(try self.ask(connection, "\(prefix)/").hasPrefix("HTTP/1.1 200 OK\r\nContent-Security-Policy: "))
            #expect(
                try self.ask(connection, "\(prefix)/ca.pem").hasSuffix(
                    "\r\n\r\n" + String(decoding: self.scene.authority.certificatePEM, as: UTF8.self)))
            #expect(try self.ask(connection, "\(prefix)/other").hasPrefix("HTTP/1.1 404 "))
            #expect(try self.ask(connection, "\(prefix)/", method: "DELETE").hasPrefix("HTTP/1.1 405 "))
        }
        #expect(proxy.server.counts.exchanges == 0)
        #expect(proxy.server.counts.misses == 0)
        #expect(proxy.notices.lines.isEmpty)
    }

    @Test func theBadgeOfTrustIsThereOverTLSAlone() throws {
        let proxy = try self.scene.proxy()
        #expect(try self.ask(self.secure(proxy), "/trusted.svg").hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(try self.ask(proxy.connect(), "http://wiretape.test/trusted.svg").hasPrefix("HTTP/1.1 404 "))
    }

    @Test func aClientThatDoesNotTrustItYetIsNoFailure() throws {
        let proxy = try self.scene.proxy()
        let other = try TLSClient(trusting: TestAuthority())
        #expect(throws: TLSFailure.self) { try self.secure(proxy, client: other) }
        // Everything that the first client caused was handled before this is answered.
        _ = try self.ask(self.secure(proxy), "/")
        #expect(proxy.notices.lines.isEmpty)
        #expect(proxy.server.counts.tlsFailures == 0)
        #expect(try proxy.recorded().isEmpty)
    }

    @Test func itIsNotDialledForWhatIsNotHTTP() throws {
        let proxy = try self.scene.proxy()
        for words in ["SSH-2.0-client\r\n", "PRI * HTTP/3.0\r\n\r\n"] {
            let connection = try proxy.connect()
            try TLSScene.tunnel(connection, to: "wiretape.test:443")
            try connection.send(words)
            try connection.expectEnd()
        }
        let connection = try proxy.connect()
        try TLSScene.tunnel(connection, to: "wiretape.test:443")
        let stream = try self.scene.client.stream(over: connection, serverName: "wiretape.test", protocols: ["h3"])
        #expect(throws: TLSFailure.self) { try stream.handshake() }
        #expect(proxy.server.counts.tunnels == 0)
    }

    @Test func patternsDoNotReachIt() throws {
        let hosts = try HostPattern("*")
        let proxy = try self.scene.proxy {
            $0.tls?.refused = [hosts]
            $0.tls?.passthrough = [hosts]
        }
        #expect(try self.ask(self.secure(proxy), "/").hasPrefix("HTTP/1.1 200 OK\r\n"))
    }
}
