import CassetteModel
import NIOCore
import NIOEmbedded
@testable import TapeProxy
import TapeTLS
import Testing

@Suite struct TLSHandlerTests {
    private func pair(maximum: TLSVersion = .tls13) throws -> EmbeddedTLS {
        let pair = try EmbeddedTLS(maximum: maximum)
        try pair.run()
        #expect(pair.client.isEstablished && pair.server.isEstablished)
        return pair
    }

    // MARK: Handshake

    @Test(arguments: [Int.max, 1, 7]) func bytesWrittenOnOneSideAreReadOnTheOther(size: Int) throws {
        let pair = try EmbeddedTLS()
        try pair.run(size: size)
        pair.client.send("from the client")
        pair.server.send("from the server")
        try pair.run(size: size)
        #expect(pair.server.behind.text == "from the client")
        #expect(pair.client.behind.text == "from the server")
        #expect(pair.client.behind.events.isEmpty && pair.server.behind.events.isEmpty)
    }

    @Test func aHelloWaitsForItsAnswer() throws {
        let authority = try TestAuthority()
        let client = try TLSClient(trusting: authority)
        let pair = try EmbeddedTLS(client: client.connection(protocols: ["h2", "http/1.1"]), leaf: nil)
        pair.server.handler.keepsInput = true
        let hello = try pair.client.output()
        for byte in hello { try pair.server.take([byte]) }
        #expect(pair.server.hello == ClientHello(serverName: "example.test", protocols: ["h2", "http/1.1"]))
        #expect(try pair.server.output().isEmpty)
        #expect(Array(pair.server.handler.keptInput.readableBytesView) == hello)
        pair.server.handler.keepsInput = false
        pair.server.handler.answer(try authority.leaf(for: ["example.test"]), protocolName: "http/1.1")
        #expect(pair.server.handler.keptInput.readableBytes == 0)
        try pair.run()
        #expect(pair.client.isEstablished && pair.server.isEstablished)
    }

    @Test func ciphertextThatWasReadBeforeCounts() throws {
        let authority = try TestAuthority()
        let client = try TLSClient(trusting: authority)
        let pair = try EmbeddedTLS(client: client.connection(), leaf: authority.leaf(for: ["example.test"]))
        pair.server.handler.begin(with: ByteBuffer(bytes: try pair.client.output()))
        try pair.run()
        #expect(pair.server.isEstablished)
    }

    @Test func aFailureGoesToTheOwnerAndThePeerGetsAnAlert() throws {
        let pair = try EmbeddedTLS(
            client: TLSClient(trusting: TestAuthority()).connection(), leaf: TestAuthority().leaf(for: ["example.test"]))
        try pair.run()
        #expect(pair.client.failure?.cause == .unknownAuthority)
        #expect(pair.server.failure?.cause == .certificateRejected)
        #expect(pair.client.behind.events.isEmpty && pair.server.behind.events.isEmpty)
    }

    @Test func anEndInsideTheHandshakeIsAFailure() throws {
        let pair = try EmbeddedTLS()
        pair.server.endInput()
        #expect(pair.server.failure?.cause == .closed)
        #expect(pair.server.behind.events.isEmpty)
        // It is reported once.
        try pair.server.channel.close().wait()
        #expect(pair.server.behind.events == ["inactive"])
    }

    @Test func aBreakInsideTheHandshakeIsAReset() throws {
        let pair = try EmbeddedTLS()
        pair.client.channel.pipeline.fireErrorCaught(ChannelError.ioOnClosedChannel)
        #expect(pair.client.failure?.cause == .reset)
        #expect(pair.client.behind.events.isEmpty)
    }

    @Test func aBreakAfterItIsPassedOn() throws {
        let pair = try self.pair()
        pair.client.channel.pipeline.fireErrorCaught(ChannelError.ioOnClosedChannel)
        #expect(pair.client.failure == nil)
        #expect(pair.client.behind.events == ["error"])
    }

    // MARK: Writing

    @Test func writesLeaveInOnePieceWithTheFlush() throws {
        let pair = try self.pair()
        for text in ["a", "b", "c"] { pair.client.channel.write(ByteBuffer(string: text), promise: nil) }
        #expect(try pair.client.output().isEmpty)
        pair.client.channel.flush()
        var pieces = 0
        while let buffer = try pair.client.channel.readOutbound(as: ByteBuffer.self) {
            pieces += 1
            try pair.server.take(buffer.readableBytesView)
        }
        #expect(pieces == 1)
        #expect(pair.server.behind.text == "abc")
    }

    @Test func aPromiseIsKeptByTheWriteItself() throws {
        let pair = try self.pair()
        let promise = pair.client.channel.eventLoop.makePromise(of: Void.self)
        var isOut = false
        promise.futureResult.assumeIsolated().whenSuccess { isOut = true }
        pair.client.channel.write(ByteBuffer(string: "a"), promise: promise)
        #expect(!isOut)
        pair.client.channel.flush()
        pair.client.channel.embeddedEventLoop.run()
        #expect(isOut)
    }

    @Test func nothingIsWrittenInClearOrLostSilently() throws {
        let early = try EmbeddedTLS()
        let promise = early.server.channel.eventLoop.makePromise(of: Void.self)
        early.server.send("early", promise: promise)
        #expect(throws: ChannelError.self) { try promise.futureResult.wait() }
        #expect(try early.server.output().isEmpty)

        let pair = try self.pair()
        pair.client.channel.close(mode: .output, promise: nil)
        let late = pair.client.channel.eventLoop.makePromise(of: Void.self)
        pair.client.send("late", promise: late)
        #expect(throws: ChannelError.self) { try late.futureResult.wait() }
    }

    @Test func writabilityPasses() throws {
        let pair = try self.pair()
        pair.client.channel.isWritable = false
        pair.client.channel.pipeline.fireChannelWritabilityChanged()
        pair.client.channel.isWritable = true
        pair.client.channel.pipeline.fireChannelWritabilityChanged()
        #expect(pair.client.behind.events == ["writable false", "writable true"])
    }

    @Test func aBodyOfManyRecordsArrives() throws {
        let pair = try self.pair()
        let body = String(repeating: "0123456789abcdef", count: 10_000)
        pair.server.send(body)
        try pair.run(size: 1 << 12)
        #expect(pair.client.behind.text == body)
    }

    // MARK: Ends

    @Test(arguments: [TLSVersion.tls12, .tls13]) func aHalfCloseIsACloseNotifyAndTheOtherHalfGoesOn(version: TLSVersion) throws {
        let pair = try self.pair(maximum: version)
        pair.client.send("last words")
        pair.client.channel.close(mode: .output, promise: nil)
        #expect(pair.client.transport.isOutputClosed)
        try pair.run()
        #expect(pair.server.behind.text == "last words")
        #expect(pair.server.behind.events == ["inputClosed"])
        pair.server.send("answer")
        try pair.run()
        #expect(pair.client.behind.text == "answer")
        pair.server.channel.close(mode: .output, promise: nil)
        try pair.run()
        #expect(pair.client.behind.events == ["inputClosed"])
    }

    @Test func aCloseSaysGoodbyeAndACutDoesNot() throws {
        for isCut in [false, true] {
            let pair = try self.pair()
            if isCut { pair.client.handler.cut() }
            try pair.client.channel.close().wait()
            #expect(try pair.client.output().isEmpty == isCut)
        }
    }

    @Test func anEndWithoutGoodbyeIsAnError() throws {
        let pair = try self.pair()
        pair.server.send("part")
        try pair.run()
        pair.client.endInput()
        #expect(pair.client.behind.text == "part")
        #expect(pair.client.behind.events == ["failed closed"])
        // It is reported once, however often the transport reports it.
        try pair.client.channel.close().wait()
        #expect(pair.client.behind.events == ["failed closed", "inactive"])
    }

    @Test func theTransportsEndAfterGoodbyeIsNoNews() throws {
        let pair = try self.pair()
        pair.server.channel.close(mode: .output, promise: nil)
        try pair.run()
        pair.client.endInput()
        #expect(pair.client.behind.events == ["inputClosed"])
    }

    @Test func bytesAfterTheEndAreDropped() throws {
        let pair = try self.pair()
        pair.server.channel.close(mode: .output, promise: nil)
        try pair.run()
        try pair.client.take([UInt8](repeating: 0x17, count: 100))
        #expect(pair.client.behind.text.isEmpty)
        #expect(pair.client.behind.events == ["inputClosed"])
    }

    @Test func ciphertextThatWasChangedIsAnError() throws {
        let pair = try self.pair()
        pair.server.send("words")
        var bytes = try pair.server.output()
        bytes[bytes.count - 1] ^= 1
        try pair.client.take(bytes)
        #expect(pair.client.behind.text.isEmpty)
        #expect(pair.client.behind.events == ["failed malformed"])
        // The peer learns of it by an alert.
        try pair.run()
        #expect(pair.server.behind.events.count == 1)
    }

    @Test func removedHandlerForwardsEverything() throws {
        let pair = try EmbeddedTLS()
        let sync = pair.server.channel.pipeline.syncOperations
        try sync.removeHandler(pair.server.handler).wait()
        try pair.server.take("in clear".utf8)
        pair.server.send("back")
        #expect(pair.server.behind.text == "in clear")
        #expect(String(decoding: try pair.server.output(), as: UTF8.self) == "back")
    }
}

@Suite struct TLSDetailsConnectionTests {
    private func details(maximum: TLSVersion = .tls13, protocols: [String] = ["http/1.1"], serverName: String? = "example.test") throws
        -> TLSDetails
    {
        let pair = try EmbeddedTLS(maximum: maximum, protocols: protocols, serverName: serverName)
        try pair.run()
        return pair.client.handler.inspect { TLSDetails($0, serverName: serverName, certificates: $0.peerCertificates()) }
    }

    @Test(arguments: [(TLSVersion.tls12, "TLSv1.2"), (.tls13, "TLSv1.3")]) func negotiatedDetailsAreKept(version: TLSVersion, name: String)
        throws
    {
        let details = try self.details(maximum: version)
        #expect(details.version == name)
        #expect(details.cipher.hasPrefix("TLS_"))
        #expect(details.alpn == "http/1.1")
        #expect(details.sni == "example.test")
        #expect(!details.isResumed)
        #expect(details.chain.first?.subject == "CN=example.test")
    }

    @Test func detailsThatWereNotRequestedAreNil() throws {
        let details = try self.details(protocols: [], serverName: nil)
        #expect(details.alpn == nil)
        #expect(details.sni == nil)
    }
}
