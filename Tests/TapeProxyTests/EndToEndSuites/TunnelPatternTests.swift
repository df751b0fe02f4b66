import CassetteModel
import TapeTLS
import TapeTrust
import Testing
@testable import TapeProxy

/// Tunnels that are not intercepted because of the patterns for their hosts.
@Suite struct TunnelPatternTests {
    private let scene: TLSScene

    init() throws { self.scene = try TLSScene() }

    /// A client that trusts only the origins.
    private func stream(over connection: RawConnection, protocols: [String] = ["http/1.1"]) throws -> TLSStream {
        let stream = try TLSClient(trusting: self.scene.origins).stream(over: connection, protocols: protocols)
        try stream.handshake()
        return stream
    }

    @Test(arguments: ["127.0.0.1", "example.test", "*.test"]) func aHostToPassThroughKeepsItsTLS(pattern: String) throws {
        // By the name in CONNECT, or by the name in the hello.
        let origin = try RawOrigin(
            self.scene.origin().plays { stream in
                try stream.expectRequest("GET /")
                try stream.send(TLSScene.answer("unread"))
                try stream.expectEnd()
            })
        let hosts = try HostPattern(pattern)
        let proxy = try self.scene.proxy { $0.tls?.passthrough = [hosts] }
        let client = try proxy.connect()
        try TLSScene.tunnel(client, to: origin.authority)
        let stream = try self.stream(over: client)
        try stream.send(TLSScene.request())
        #expect(String(decoding: try stream.readMessage(), as: UTF8.self) == TLSScene.answer("unread"))
        stream.closeOutput()
        try stream.expectEnd()
        origin.finish()
        #expect(proxy.server.counts.tunnels == 1)
        #expect(proxy.notices.lines.isEmpty)
        #expect(try proxy.recorded().isEmpty)
    }

    @Test func aPatternForAnotherHostChangesNothing() throws {
        let origin = try RawOrigin(
            self.scene.origin().plays { stream in
                try stream.expectRequest("GET /")
                try stream.send(TLSScene.answer("read"))
            })
        let hosts = try HostPattern("*.example.test")
        let proxy = try self.scene.proxy {
            $0.tls?.passthrough = [hosts]
            $0.tls?.refused = [hosts]
        }
        let stream = try self.scene.secure(proxy.connect(), to: origin.authority)
        try stream.send(TLSScene.request())
        _ = try stream.readMessage()
        origin.finish()
        #expect(try proxy.recorded().count == 1)
    }

    @Test func aRefusedHostGetsA403AndNothingIsDialled() throws {
        let origin = try RawOrigin()
        let hosts = try HostPattern("127.0.0.1")
        // Refusing takes precedence over passing through.
        let proxy = try self.scene.proxy {
            $0.tls?.refused = [hosts]
            $0.tls?.passthrough = [hosts]
        }
        let answer = try proxy.ask("CONNECT \(origin.authority) HTTP/1.1\r\nHost: \(origin.authority)\r\nConnection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 403 Forbidden\r\nWiretape-Error: refused\r\n"))
        #expect(origin.accepted == 0)
    }

    @Test func aRefusedNameInTheHelloIsNotRelayedEither() throws {
        let origin = try RawOrigin()
        let hosts = try HostPattern("example.test")
        let proxy = try self.scene.proxy { $0.tls?.refused = [hosts] }
        let client = try proxy.connect()
        try TLSScene.tunnel(client, to: origin.authority)
        let stream = try self.scene.client.stream(over: client)
        let failure = #expect(throws: TLSFailure.self) { try stream.handshake() }
        #expect(failure?.cause == .closed || failure?.cause == .nameMismatch)
        #expect(origin.accepted == 0)
        #expect(proxy.server.counts.tunnels == 0)
    }

    @Test func aPasswordIsWantedForTheTunnelAndNotInside() throws {
        let origin = try RawOrigin(
            self.scene.origin().plays { stream in
                let head = try stream.expectRequest("GET /")
                guard !head.lowercased().contains("proxy-authorization") else { throw RawError("the password was passed on") }
                try stream.send(TLSScene.answer("in"))
            })
        let proxy = try self.scene.proxy { $0.credentials = "user:pass:word" }
        let client = try proxy.connect()
        try client.send("CONNECT \(origin.authority) HTTP/1.1\r\nHost: \(origin.authority)\r\n\r\n")
        #expect(String(decoding: try client.readMessage(), as: UTF8.self).hasPrefix("HTTP/1.1 407 "))
        try client.send(
            "CONNECT \(origin.authority) HTTP/1.1\r\nHost: \(origin.authority)\r\nProxy-Authorization: Basic dXNlcjpwYXNzOndvcmQ=\r\n\r\n")
        try client.expect("HTTP/1.1 200 Connection established\r\n\r\n")
        let stream = try self.scene.client.stream(over: client)
        try stream.handshake()
        try stream.send(TLSScene.request("GET", "/", "Proxy-Authorization: Basic dXNlcjpwYXNzOndvcmQ="))
        #expect(String(decoding: try stream.readMessage(), as: UTF8.self) == TLSScene.answer("in"))
        origin.finish()
        let recorded = try proxy.recorded()
        #expect(recorded.count == 1)
        #expect(recorded.first?.request.headers.first("proxy-authorization") == nil)
    }

    @Test(arguments: ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "127.1", "[::ffff:127.0.0.1]", "0x7f000001", "2130706433"])
    func theProxyItselfIsNoTunnelsEndUnderAnySpelling(host: String) throws {
        let proxy = try self.scene.proxy()
        let answer = try proxy.ask("CONNECT \(host):\(proxy.server.port) HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 508 Loop Detected\r\nWiretape-Error: loop\r\n"), "\(answer)")
        #expect(try proxy.recorded().isEmpty)
    }
}
