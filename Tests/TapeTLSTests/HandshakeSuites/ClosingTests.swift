import Testing

@testable import TapeTLS

struct ClosingTests {
    private let authority: TestAuthority

    init() throws {
        self.authority = try TestAuthority()
    }

    private func established(_ version: TLSVersion) throws -> TLSPair {
        let pair = try self.authority.pair(maximum: version)
        pair.run()
        #expect(pair.isEstablished)
        return pair
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func closeNotifyEndsTheOtherSidesInput(version: TLSVersion) throws {
        for isClient in [true, false] {
            let pair = try self.established(version)
            let (closing, other) = isClient ? (pair.client, pair.server) : (pair.server, pair.client)
            try closing.send("last".utf8)
            closing.closeOutput()
            pair.run()
            #expect(other.text == "last")
            #expect(other.isEnded)
            #expect(other.inputEnded() == .ended)
            #expect(!closing.isEnded)
        }
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func afterOurEndTheOtherSideCanStillSpeak(version: TLSVersion) throws {
        for isClient in [true, false] {
            let pair = try self.established(version)
            let (closing, other) = isClient ? (pair.client, pair.server) : (pair.server, pair.client)
            closing.closeOutput()
            pair.run()
            try other.send("one ".utf8)
            pair.run()
            try other.send("two".utf8)
            other.closeOutput()
            pair.run()
            #expect(closing.text == "one two")
            #expect(closing.progress == .ended)
            #expect(other.progress == .needsInput || other.progress == .ended)
        }
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func nothingIsSentAfterOurEndAndReadingGoesOn(version: TLSVersion) throws {
        let pair = try self.established(version)
        pair.client.closeOutput()
        let closing = pair.client.output()
        #expect(throws: TLSFailure.self) { try pair.client.send("late".utf8) }
        #expect(pair.client.pendingOutput == 0)
        pair.server.receive(closing)
        try pair.server.send("still here".utf8)
        pair.run()
        #expect(pair.client.text == "still here")
        #expect(pair.client.failure == nil)
    }

    @Test func closingTwiceIsClosingOnce() throws {
        let pair = try self.established(.tls13)
        pair.client.closeOutput()
        #expect(!pair.client.output().isEmpty)
        pair.client.closeOutput()
        #expect(pair.client.output().isEmpty)
    }

    @Test func closingInsideTheHandshakeSaysNothing() throws {
        let pair = try self.authority.pair()
        pair.client.receive()
        _ = pair.client.output()
        pair.client.closeOutput()
        #expect(pair.client.output().isEmpty)
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func anEndWithoutCloseNotifyIsAFailure(version: TLSVersion) throws {
        let pair = try self.established(version)
        try pair.server.send("a part".utf8)
        pair.run()
        #expect(pair.client.inputEnded() == .failed(TLSFailure(cause: .closed, message: "it closed the connection without close_notify")))
        #expect(pair.client.text == "a part")
    }

    @Test func anEndInsideARecordIsAFailure() throws {
        let pair = try self.established(.tls13)
        try pair.server.send("a part".utf8)
        pair.server.closeOutput()
        pair.client.receive(pair.server.output().dropLast())
        #expect(!pair.client.isEnded)
        #expect(pair.client.inputEnded() == .failed(TLSFailure(cause: .closed, message: "it closed the connection without close_notify")))
    }

    @Test func anEndInsideTheHandshakeSaysSo() throws {
        let pair = try self.authority.pair()
        pair.client.receive()
        #expect(pair.client.inputEnded() == .failed(TLSFailure(cause: .closed, message: "it closed the connection during the handshake")))
    }

    @Test func closeNotifyInsideTheHandshakeIsAnEndInsideTheHandshake() throws {
        let pair = try self.authority.pair()
        pair.client.receive()
        pair.client.receive([TLSRecord.alert, 3, 3, 0, 2, 1, 0])
        #expect(pair.client.failure?.cause == .closed)
    }

    @Test func inputAfterTheEndIsIgnored() throws {
        let pair = try self.established(.tls13)
        pair.client.closeOutput()
        let closing = pair.client.output()
        #expect(pair.server.receive(closing + [1, 2, 3]) == .ended)
        #expect(pair.server.receive([4, 5, 6]) == .ended)
        #expect(pair.server.receive() == .ended)
        #expect(pair.server.plaintext.isEmpty)
        try pair.server.send("answer".utf8)
        pair.client.receive(pair.server.output())
        #expect(pair.client.text == "answer")
    }
}
