import CassetteModel
import CassetteStore
import TapeTLS
import TapeTestSupport
import Testing
@testable import TapeProxy

/// Clients whose TLS handshake fails: the CONNECT is recorded for the lost requests, and a line says what to do.
@Suite struct ClientTLSFailureTests {
    private let scene: TLSScene
    /// The leaf needs no origin, because a replay dials nobody.
    private let authority = "example.test:8443"

    init() throws { self.scene = try TLSScene() }

    private func connect(_ proxy: RunningProxy) throws -> RawConnection {
        let client = try proxy.connect()
        try TLSScene.tunnel(client, to: self.authority)
        return client
    }

    /// A proxy that records and has no origin to dial in advance. Each test shows what happens without one.
    private func proxy(configure: (inout ProxyConfiguration) -> Void = { _ in }) throws -> RunningProxy {
        try self.scene.proxy(.newEpisodes, in: self.scene.emptyCassette(), configure: configure)
    }

    /// Stops the proxy, and expects one failed CONNECT and the line for people.
    private func expectFailure(_ proxy: RunningProxy, _ words: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let recorded = try proxy.recorded()
        let notices = proxy.notices.lines
        #expect(notices.count == 1, "\(notices)", sourceLocation: sourceLocation)
        #expect(notices.first?.contains(words) == true, "\(notices)", sourceLocation: sourceLocation)
        #expect(proxy.server.counts.tlsFailures == 1, sourceLocation: sourceLocation)
        let interaction = try #require(recorded.first, sourceLocation: sourceLocation)
        #expect(recorded.count == 1, sourceLocation: sourceLocation)
        #expect(interaction.request.method == "CONNECT", sourceLocation: sourceLocation)
        #expect(interaction.request.url == "https://\(self.authority)/", sourceLocation: sourceLocation)
        #expect(interaction.request.target == self.authority, sourceLocation: sourceLocation)
        #expect(interaction.response == nil, sourceLocation: sourceLocation)
        guard case .failed(let failure) = interaction.outcome else { throw RawError("\(interaction.outcome) is not failed") }
        #expect(failure.kind == .tls, sourceLocation: sourceLocation)
        #expect(failure.message == notices.first, sourceLocation: sourceLocation)
    }

    @Test(arguments: [TLSVersion.tls12, .tls13]) func aClientThatRejectsTheCertificateGetsAdviceOnTrust(version: TLSVersion) throws {
        let proxy = try self.proxy()
        let untrusting = try TLSClient(trusting: TestAuthority(), maximum: version)
        let stream = try untrusting.stream(over: self.connect(proxy))
        let failure = #expect(throws: TLSFailure.self) { try stream.handshake() }
        #expect(failure?.cause == .unknownAuthority)
        _ = try? stream.readToEnd()
        try self.expectFailure(proxy, "for \"example.test:8443\": the client rejected wiretape's certificate (")
    }

    @Test func aClientThatClosesAfterTheCertificateGetsAdviceOnTrust() throws {
        let proxy = try self.proxy()
        let connection = try self.connect(proxy)
        let stream = try self.scene.client.stream(over: connection)
        try stream.sendHello()
        stream.cutOutput()
        _ = try? stream.readToEnd()
        try self.expectAdvice(proxy, "the client closed the connection during the handshake, which most often means")
    }

    /// Stops the proxy, and expects the line for people and no exchange, because no request came.
    private func expectAdvice(_ proxy: RunningProxy, _ words: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try proxy.recorded().isEmpty, sourceLocation: sourceLocation)
        let notices = proxy.notices.lines
        #expect(notices.count == 1 && notices[0].contains(words), "\(notices)", sourceLocation: sourceLocation)
        #expect(proxy.server.counts.tlsFailures == 1, sourceLocation: sourceLocation)
    }

    /// It opens more than it needs, and ends whatever is under way when its page is closed.
    @Test(arguments: [true, false], [true, false]) func aBrowsersSpareConnectionIsNeitherAnExchangeNorAProblem(isWhole: Bool, resets: Bool)
        throws
    {
        let proxy = try self.proxy { $0.clientIsBrowser = true }
        let connection = try self.connect(proxy)
        let stream = try self.scene.client.stream(over: connection)
        if isWhole { try stream.sendHello() } else { try connection.send([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc]) }
        if resets { stream.reset() } else { stream.cutOutput() }
        if !resets { _ = try? stream.readToEnd() }
        let page = try self.scene.client.stream(over: self.connect(proxy))
        try page.handshake()
        try page.send("GET / HTTP/1.1\r\nHost: \(self.authority)\r\nConnection: close\r\n\r\n")
        _ = try? page.readMessage()
        page.closeOutput()
        #expect(try proxy.recorded().allSatisfy { $0.request.method == "GET" })
        #expect(!proxy.notices.lines.contains { $0.contains("handshake") }, "\(proxy.notices.lines)")
        #expect(proxy.server.counts.tlsFailures == 0)
    }

    /// If nothing else came, the browser may not trust the certificate.
    @Test func aBrowserThatSendsNothingGetsAdviceOnTrust() throws {
        let proxy = try self.proxy { $0.clientIsBrowser = true }
        let stream = try self.scene.client.stream(over: self.connect(proxy))
        try stream.sendHello()
        stream.cutOutput()
        _ = try? stream.readToEnd()
        try self.expectAdvice(proxy, "the client closed the connection during the handshake, which most often means")
    }

    @Test func aClientThatResetsGetsAdviceOnTrust() throws {
        let proxy = try self.proxy()
        let stream = try self.scene.client.stream(over: self.connect(proxy))
        try stream.sendHello()
        stream.reset()
        // The reset arrived before this is answered.
        _ = try proxy.ask("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        try self.expectAdvice(proxy, "during the handshake, which most often means")
    }

    @Test func halfAHelloAndThenSilenceTimesOut() throws {
        let proxy = try self.proxy { $0.limits.tlsHandshake = 1 }
        let client = try self.connect(proxy)
        try client.send([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc])
        try client.expectEnd()
        try self.expectFailure(proxy, "the handshake took longer than 1 s: is the client still running?")
    }

    @Test func aClientThatLeavesInHalfAHelloIsNoExchange() throws {
        let proxy = try self.proxy()
        let client = try self.connect(proxy)
        try client.send([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc])
        client.closeOutput()
        _ = try client.readToEnd()
        #expect(try proxy.recorded().isEmpty)
        #expect(
            proxy.notices.lines == [
                "the client for \"example.test:8443\" closed the connection before its TLS handshake was answered: is it still running, and is the origin up?"
            ])
    }

    @Test func anInvalidHelloIsAnsweredWithAnAlert() throws {
        let proxy = try self.proxy()
        let client = try self.connect(proxy)
        try client.send([0x16, 3, 1, 0, 4, 1, 0, 0, 0])
        let (bytes, _) = try client.readToEnd()
        #expect(bytes.first == 21)
        try self.expectFailure(proxy, "--passthrough example.test:8443 leaves it alone.")
    }

    @Test func aClientWithOnlyOldVersionsGetsTheOptionThatAllowsThem() throws {
        let proxy = try self.proxy { $0.tls?.clientMinimum = .tls13 }
        let stream = try TLSClient(trusting: self.scene.authority, maximum: .tls12).stream(over: self.connect(proxy))
        #expect(throws: TLSFailure.self) { try stream.handshake() }
        try self.expectFailure(proxy, "--tls-min")
    }

    @Test func theSameFailureIsReportedOnceAndRecordedEachTime() throws {
        let proxy = try self.proxy()
        let untrusting = try TLSClient(trusting: TestAuthority())
        for _ in 0..<3 {
            let stream = try untrusting.stream(over: self.connect(proxy))
            #expect(throws: TLSFailure.self) { try stream.handshake() }
            _ = try? stream.readToEnd()
        }
        #expect(try proxy.recorded().count == 3)
        #expect(proxy.notices.lines.count == 1)
        #expect(proxy.server.counts.tlsFailures == 3)
    }

    @Test func aClientThatLeavesWhileItsOriginIsDialledIsNotTakenForAnUntrustingOne() throws {
        let heard = Gate("the origin has the hello")
        let origin = try RawOrigin { connection in
            _ = try connection.next()
            heard.open()
            _ = try connection.readToEnd()
        }
        let proxy = try self.scene.proxy()
        let client = try proxy.connect()
        try TLSScene.tunnel(client, to: origin.authority)
        let stream = try self.scene.client.stream(over: client)
        try stream.sendHello()
        try heard.wait()
        stream.cutOutput()
        _ = try? stream.readToEnd()
        #expect(proxy.notices.lines.count == 1)
        #expect(proxy.notices.lines.first?.contains("before its TLS handshake was answered") == true, "\(proxy.notices.lines)")
        #expect(proxy.server.counts.tlsFailures == 0)
        try proxy.stop()
        origin.finish()
    }

    // MARK: Right after the handshake

    @Test(arguments: [true, false]) func aClientThatLeavesWithoutARequestMayHaveJudgedTheCertificate(saysGoodbye: Bool) throws {
        let proxy = try self.proxy()
        let stream = try self.scene.client.stream(over: self.connect(proxy))
        try stream.handshake()
        if saysGoodbye { stream.closeOutput() } else { stream.cutOutput() }
        _ = try? stream.readToEnd()
        #expect(try proxy.recorded().isEmpty)
        let expected = "the client closed the connection right after the handshake, which most often means"
        #expect(proxy.notices.lines.count == 1 && proxy.notices.lines[0].contains(expected), "\(proxy.notices.lines)")
        #expect(proxy.server.counts.tlsFailures == 1)
    }

    @Test func aClientThatLeavesAfterARequestHasJudgedNothing() throws {
        let proxy = try self.proxy()
        let stream = try self.scene.client.stream(over: self.connect(proxy))
        try stream.handshake()
        // The proxy itself answers this.
        try stream.send("CONNECT h.test:443 HTTP/1.1\r\nHost: h.test:443\r\n\r\n")
        _ = try stream.readMessage()
        stream.closeOutput()
        _ = try stream.readToEnd()
        #expect(try proxy.recorded().isEmpty)
        #expect(proxy.notices.lines.count == 1 && proxy.notices.lines[0].hasPrefix("a request was answered with 501 and not forwarded: "))
    }

    @Test func aFloodAfterAHelloIsNotKept() throws {
        let heard = Gate("the origin has the hello")
        let origin = try RawOrigin { connection in
            _ = try connection.next()
            heard.open()
            _ = try connection.readToEnd()
        }
        let proxy = try self.scene.proxy()
        let client = try proxy.connect()
        try TLSScene.tunnel(client, to: origin.authority)
        let hello = try RecordedHello.bytes(self.scene.client)
        try client.send(hello)
        try heard.wait()
        // Application data, which may not be sent yet; 32 MiB of it.
        #expect(origin.accepted == 1)
        let record: [UInt8] = [0x17, 3, 3, 0x40, 0] + [UInt8](repeating: 7, count: 0x4000)
        let block = [[UInt8]](repeating: record, count: 64).flatMap { $0 }
        var sent = 0
        do {
            for _ in 0..<32 {
                let count = try client.send(block, milliseconds: 500)
                sent += count
                if count < block.count { break }
            }
        } catch {}
        #expect(sent < 16 << 20, "the proxy keeps what nobody can read yet")
        client.close()
        try proxy.stop()
        origin.finish()
    }
}
