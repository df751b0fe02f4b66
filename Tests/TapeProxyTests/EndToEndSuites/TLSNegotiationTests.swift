import CassetteModel
import TapeTLS
import Testing
@testable import TapeProxy

/// The names (RFC 6066, 3) and protocols (RFC 7301) that the client's hello requests, and those that the origin gets.
@Suite struct TLSNegotiationTests {
    private let scene: TLSScene

    init() throws { self.scene = try TLSScene() }

    /// Performs the handshake, expects this hello, and answers one request.
    private static func wants(_ tls: TLSOrigin, serverName: String?, protocols: [String]) -> RawOrigin.Script {
        { connection in
            let stream = try tls.stream(over: connection)
            try stream.handshake()
            let wanted = ClientHello(serverName: serverName, protocols: protocols)
            guard stream.hello == wanted else { throw RawError("\(stream.hello) came in the place of \(wanted)") }
            try stream.expectRequest("GET /")
            try stream.send(TLSScene.answer("ok"))
        }
    }

    private func ask(_ stream: TLSStream, host: String = "example.test") throws {
        try stream.send(TLSScene.request(host: host))
        #expect(String(decoding: try stream.readMessage(), as: UTF8.self) == TLSScene.answer("ok"))
    }

    @Test(arguments: [
        (["h2", "http/1.1"], ["h2", "http/1.1"], "http/1.1"), (["http/1.1", "h2"], ["http/1.1", "h2"], "http/1.1"),
        (["http/1.1"], ["http/1.1"], "http/1.1"),
        (["http/1.1", "acme-tls/1"], ["http/1.1"], "http/1.1"), ([], [], nil),
    ])
    func protocolsAreOfferedAsTheClientDoesAndTheOriginChooses(offered: [String], passedOn: [String], chosen: String?) throws {
        let tls = try self.scene.origin()
        let origin = try RawOrigin(Self.wants(tls, serverName: "example.test", protocols: passedOn))
        let proxy = try self.scene.proxy()
        let stream = try self.scene.secure(proxy.connect(), to: origin.authority, protocols: offered)
        #expect(stream.protocolName == chosen)
        try self.ask(stream)
        origin.finish()
        #expect(try proxy.recorded().first?.connection?.tls?.alpn == chosen)
    }

    // MARK: Agreed protocols are binding

    private func agreed(_ protocols: [String]) throws -> (proxy: RunningProxy, stream: TLSStream) {
        // A replay dials nobody, and speaks the protocol that the client prefers.
        let proxy = try self.scene.proxy(.newEpisodes, in: self.scene.emptyCassette())
        return (proxy, try self.scene.secure(proxy.connect(), to: "example.test:8443", protocols: protocols))
    }

    @Test func otherBytesThanThePrefaceEndAConnectionOfHTTP2() throws {
        let (proxy, stream) = try self.agreed(["h2", "http/1.1"])
        #expect(stream.protocolName == "h2")
        try stream.send(TLSScene.request())
        let (bytes, _) = try stream.readToEnd()
        // Frames: SETTINGS first, and later a GOAWAY with an error.
        #expect(bytes.count > 9 && bytes[3] == 4, "\(bytes)")
        #expect(try proxy.recorded().isEmpty)
    }

    @Test func thePrefaceOfHTTP2IsRefusedOnAConnectionOfHTTP1() throws {
        let (proxy, stream) = try self.agreed(["http/1.1"])
        try stream.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        let answer = String(decoding: try stream.readMessage(), as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request") && answer.contains("offer \"h2\" in the TLS handshake"), "\(answer)")
        #expect(try proxy.recorded().isEmpty)
    }

    @Test(arguments: ["a b.test", "a.test\n--insecure", "a,b", "*.test", "h\"--x"])
    func aServerNameThatIsNoHostNameIsRefusedAndNotShown(name: String) throws {
        let proxy = try self.scene.proxy(.newEpisodes, in: self.scene.emptyCassette())
        let client = try proxy.connect()
        try TLSScene.tunnel(client, to: "example.test:8443")
        let stream = try self.scene.client.stream(over: client, serverName: name)
        #expect(throws: (any Error).self) { try stream.handshake() }
        _ = try? stream.readToEnd()
        #expect(try proxy.recorded().isEmpty)
        #expect(
            proxy.notices.lines == [
                "the client in the tunnel to \"example.test:8443\" sent a server name (SNI) that is not a host name: the tunnel was closed."
            ])
    }

    @Test(arguments: [true, false]) func aConnectionThatIsNotUsedIsNoExchange(isTrusted: Bool) throws {
        let proxy = try self.scene.proxy(.newEpisodes, in: self.scene.emptyCassette())
        let spare = try self.scene.secure(proxy.connect(), to: "example.test:8443")
        if isTrusted {
            let stream = try self.scene.secure(proxy.connect(), to: "example.test:8444")
            // Misdirected, so that nobody is dialled; nevertheless it came through TLS.
            try stream.send("GET /a HTTP/1.1\r\nHost: other.test\r\n\r\n")
            #expect(String(decoding: try stream.readMessage(), as: UTF8.self).hasPrefix("HTTP/1.1 421"))
        }
        spare.closeOutput()
        _ = try? spare.readToEnd()
        #expect(try proxy.recorded().isEmpty)
        // Without any request, the clients may not trust the authority.
        #expect(proxy.notices.lines.count == 1)
        let expected = isTrusted ? "421 and not forwarded" : "right after the handshake, which most often means"
        #expect(proxy.notices.lines.allSatisfy { $0.contains(expected) }, "\(proxy.notices.lines)")
        #expect(proxy.server.counts.tlsFailures == (isTrusted ? 0 : 1))
    }

    /// A page without TLS may name a host for a connection in reserve (`<link rel="preconnect">`).
    @Test func aConnectionThatIsNotUsedIsNotReportedBesideARequest() throws {
        let proxy = try self.scene.proxy(.newEpisodes, in: self.scene.emptyCassette())
        let spare = try self.scene.secure(proxy.connect(), to: "example.test:8443")
        let plain = try proxy.connect()
        try plain.send("GET http://127.0.0.1:1/a HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n")
        #expect(String(decoding: try plain.readMessage(), as: UTF8.self).hasPrefix("HTTP/1.1 502"))
        spare.closeOutput()
        _ = try? spare.readToEnd()
        #expect(try proxy.recorded().map(\.request.url) == ["http://127.0.0.1:1/a"])
        #expect(proxy.notices.lines.allSatisfy { !$0.contains("handshake") }, "\(proxy.notices.lines)")
        #expect(proxy.server.counts.tlsFailures == 0)
    }

    @Test func aClientThatDoesNotOfferHTTPIsLeftAlone() throws {
        let tls = try self.scene.origin(protocols: ["acme-tls/1"])
        let origin = try RawOrigin(
            { connection in
                let stream = try tls.stream(over: connection)
                try stream.handshake()
                guard stream.hello.protocols == ["acme-tls/1", "h3"] else { throw RawError("\(stream.hello)") }
                // The client's own random numbers show that its hello arrived unchanged.
                try stream.send(stream.firstHeard)
                try stream.expect("frames")
                try stream.send("frames back")
                try stream.expectEnd()
                stream.closeOutput()
            }, { connection in try tls.stream(over: connection).handshake() })
        let proxy = try self.scene.proxy()
        for number in 1...2 {
            let connection = try proxy.connect()
            try TLSScene.tunnel(connection, to: origin.authority)
            let stream = try TLSClient(trusting: self.scene.origins).stream(over: connection, protocols: ["acme-tls/1", "h3"])
            try stream.handshake()
            guard number == 1 else { continue }
            #expect(try stream.read(count: stream.firstSaid.count) == stream.firstSaid)
            #expect(stream.protocolName == "acme-tls/1")
            try stream.send("frames")
            try stream.expect("frames back")
            stream.closeOutput()
            try stream.expectEnd()
        }
        origin.finish()
        #expect(
            proxy.notices.lines == [
                "the client for \"\(origin.authority)\" offers \"acme-tls/1\", \"h3\" but not HTTP: its tunnel is passed through and not recorded."
            ])
        #expect(proxy.server.counts.tunnels == 2)
        #expect(try proxy.recorded().isEmpty)
    }

    @Test func theNameInTheHelloIsPassedOnAndVerified() throws {
        let tls = try self.scene.origin("other.test")
        let origin = try RawOrigin(Self.wants(tls, serverName: "other.test", protocols: ["http/1.1"]))
        let proxy = try self.scene.proxy()
        // By address, and with another name in the hello.
        let stream = try self.scene.secure(proxy.connect(), to: origin.authority, serverName: "other.test")
        try self.ask(stream, host: "other.test")
        origin.finish()
        let recorded = try #require(try proxy.recorded().first)
        #expect(recorded.connection?.tls?.sni == "other.test")
        // The request's own host determines its URL.
        #expect(recorded.request.url == "https://other.test/")
    }

    @Test func aNameThatDiffersFromTheTunnelsCountsForBoth() throws {
        let tls = try self.scene.origin("other.test")
        let origin = try RawOrigin(Self.wants(tls, serverName: "other.test", protocols: ["http/1.1"]))
        let proxy = try self.scene.proxy()
        let stream = try self.scene.secure(proxy.connect(), to: "localhost:\(origin.port)", serverName: "other.test")
        #expect(stream.peerCertificates.first?.names == ["localhost", "other.test"])
        try self.ask(stream, host: "localhost:\(origin.port)")
        origin.finish()
    }

    @Test func aHelloWithoutANameLeavesItOut() throws {
        let tls = try self.scene.origin("127.0.0.1")
        let origin = try RawOrigin(Self.wants(tls, serverName: nil, protocols: ["http/1.1"]))
        let proxy = try self.scene.proxy()
        let stream = try self.scene.secure(proxy.connect(), to: origin.authority, serverName: nil)
        #expect(stream.peerCertificates.first?.names == ["127.0.0.1"])
        try self.ask(stream, host: origin.authority)
        origin.finish()
        let recorded = try #require(try proxy.recorded().first)
        #expect(recorded.connection?.tls?.sni == nil)
    }

    @Test func theLeafHasTheOriginsNamesToo() throws {
        let tls = try self.scene.origin("example.test", "*.example.test", "192.0.2.7")
        let origin = try RawOrigin(Self.wants(tls, serverName: "example.test", protocols: ["http/1.1"]))
        let proxy = try self.scene.proxy()
        let stream = try self.scene.secure(proxy.connect(), to: "localhost:\(origin.port)")
        #expect(Set(stream.peerCertificates.first?.names ?? []) == ["localhost", "example.test", "*.example.test", "192.0.2.7"])
        try self.ask(stream)
        origin.finish()
    }

    @Test(arguments: [TLSVersion.tls12, .tls13]) func eachLegHasAVersionOfItsOwn(version: TLSVersion) throws {
        let tls = try self.scene.origin(maximum: version == .tls12 ? .tls13 : .tls12)
        let origin = try RawOrigin(Self.wants(tls, serverName: "example.test", protocols: ["http/1.1"]))
        let scene = try TLSScene(maximum: version)
        let proxy = try RunningProxy { configuration in
            self.scene.configure(&configuration)
            configuration.tls?.authority = scene.authority.settings.authority
        }
        let stream = try scene.secure(proxy.connect(), to: origin.authority)
        #expect(stream.version == (version == .tls12 ? "TLSv1.2" : "TLSv1.3"))
        try self.ask(stream)
        origin.finish()
        #expect(try proxy.recorded().first?.connection?.tls?.version == (version == .tls12 ? "TLSv1.3" : "TLSv1.2"))
    }
}
