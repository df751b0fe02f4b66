internal import COpenSSL
@testable import TapeTLS
import Testing

struct TLSConnectionTests {
    private let authority: TestAuthority

    init() throws {
        self.authority = try TestAuthority()
    }

    private func established(maximum: TLSVersion? = nil) throws -> TLSPair {
        let pair = try self.authority.pair(maximum: maximum)
        pair.run()
        #expect(pair.isEstablished)
        return pair
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func plaintextGoesBothWays(version: TLSVersion) throws {
        let pair = try self.established(maximum: version)
        try pair.client.send("request".utf8)
        pair.run()
        try pair.server.send("response".utf8)
        pair.run()
        #expect(pair.server.text == "request")
        #expect(pair.client.text == "response")
        #expect(pair.client.progress == .needsInput)
        #expect(pair.server.progress == .needsInput)
    }

    @Test func nothingOfThePlaintextIsInTheOutput() throws {
        let pair = try self.established()
        try pair.client.send("a secret that is longer than chance".utf8)
        let output = pair.client.output()
        #expect(output.count > 35)
        #expect(!output.indices.dropLast(6).contains { output[$0...].starts(with: "secret".utf8) })
    }

    // MARK: The hello

    @Test func theServerWaitsForTheAnswer() throws {
        let pair = try self.authority.pair()
        let answer = pair.server.answer
        pair.server.answer = nil
        pair.run()
        let hello = TLSProgress.hello(ClientHello(serverName: "example.test", protocols: []))
        #expect(pair.server.progress == hello)
        #expect(pair.server.pendingOutput == 0)
        // A second call returns the same.
        #expect(pair.server.receive() == hello)
        pair.server.answer = answer
        pair.server.receive()
        pair.run()
        #expect(pair.isEstablished)
    }

    @Test func bytesBeforeTheAnswerAreKept() throws {
        let pair = try self.authority.pair()
        let answer = pair.server.answer
        pair.server.answer = nil
        pair.client.receive()
        let hello = pair.client.output()
        pair.server.receive(hello)
        // The first of these bytes begins an alert, which must be seen after the hello.
        for byte in TLSRecord.fatalAlert(40) {
            guard case .hello = pair.server.receive([byte]) else {
                Issue.record("the hello is gone")
                return
            }
        }
        pair.server.answer = answer
        pair.server.receive()
        #expect(pair.server.failure?.cause == .noSharedCipher)
    }

    @Test func aHelloCanComeWithMoreInOneRead() throws {
        let pair = try self.authority.pair()
        pair.client.receive()
        pair.server.receive(pair.client.output() + TLSRecord.fatalAlert(40))
        #expect(pair.server.failure?.cause == .noSharedCipher)
    }

    @Test func aClientThatDoesNotWaitForTheAnswerIsGivenUp() throws {
        let pair = try self.authority.pair()
        pair.server.answer = nil
        pair.run()
        let bytes = [UInt8](repeating: 0, count: 32_768)
        for _ in 0..<2 {
            guard case .hello = pair.server.receive(bytes) else {
                Issue.record("the hello is gone")
                return
            }
        }
        #expect(
            pair.server.receive([0])
                == .failed(TLSFailure(cause: .malformed, message: "it sent too many bytes before its hello was answered")))
    }

    /// A server without the groups of the client's key shares requests a second hello (RFC 8446, 4.1.4).
    @Test func aSecondHelloNeedsNoSecondAnswer() throws {
        let server = try TestAuthority.serverContext()
        server.useOnly(groups: "P-384")
        let pair = try self.authority.pair(self.authority.clientContext(), server)
        pair.client.receive()
        pair.server.receive(pair.client.output())
        let retry = pair.server.output()
        #expect(!pair.server.isEstablished)
        pair.client.receive(retry)
        #expect(pair.client.peerCertificates.isEmpty)
        while pair.carry() {}
        #expect(pair.isEstablished)
        #expect(pair.server.progress == .needsInput)
    }

    // MARK: Amounts

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func aLargeWriteArrivesWhole(version: TLSVersion) throws {
        let pair = try self.established(maximum: version)
        let bytes = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        try pair.client.send(bytes)
        try pair.server.send(bytes)
        pair.run()
        #expect(pair.server.plaintext == bytes)
        #expect(pair.client.plaintext == bytes)
    }

    @Test func manySmallWritesArriveInOrder() throws {
        let pair = try self.established()
        for number in 0..<2000 { try pair.client.send("\(number) ".utf8) }
        pair.run()
        #expect(pair.server.text == (0..<2000).map { "\($0) " }.joined())
    }

    @Test(arguments: [TLSVersion.tls12, .tls13], [0, 1, 100, 16_500, 17_500, 33_000])
    func ciphertextWithoutRoomWaits(version: TLSVersion, room: Int) throws {
        let pair = try self.established(maximum: version)
        let bytes = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }
        try pair.client.send(bytes, room: room)
        try pair.client.send("behind".utf8)
        pair.run()
        #expect(pair.server.plaintext == bytes + Array("behind".utf8))
    }

    @Test func anEmptyWriteIsNothing() throws {
        let pair = try self.established()
        try pair.client.send([])
        #expect(pair.client.pendingOutput == 0)
    }

    // MARK: Misuse

    @Test func nothingIsSentBeforeTheHandshakeIsThrough() throws {
        let pair = try self.authority.pair()
        #expect(throws: TLSFailure.self) { try pair.client.send("early".utf8) }
        #expect(throws: TLSFailure.self) { try pair.server.send("early".utf8) }
        pair.run()
        #expect(pair.isEstablished)
        try pair.client.send("in time".utf8)
        pair.run()
        #expect(pair.server.text == "in time")
    }

    @Test func aFailureStays() throws {
        let pair = try self.established()
        pair.server.receive(TLSRecord.fatalAlert(20))
        let failure = try #require(pair.server.failure)
        #expect(failure.cause == .malformed)
        let error = #expect(throws: TLSFailure.self) { try pair.server.send("late".utf8) }
        #expect(error == failure)
        #expect(pair.server.receive([1, 2, 3]) == .failed(failure))
        #expect(pair.server.inputEnded() == .failed(failure))
        _ = pair.server.output()
        pair.server.closeOutput()
        #expect(pair.server.pendingOutput == 0)
    }

    @Test func bytesBeforeDamageAreDelivered() throws {
        let pair = try self.established()
        try pair.client.send("whole".utf8)
        let good = pair.client.output()
        try pair.client.send("damaged".utf8)
        var bad = pair.client.output()
        bad[bad.count - 1] ^= 1
        pair.server.receive(good + bad)
        #expect(pair.server.text == "whole")
        #expect(pair.server.failure?.cause == .malformed)
        // The peer gets an alert (RFC 8446, 6.2: bad_record_mac).
        pair.client.receive(pair.server.output())
        #expect(pair.client.failure?.reasons.contains { $0.contains("bad record mac") } == true)
    }

    @Test func aReplayedRecordIsRefused() throws {
        let pair = try self.established()
        try pair.client.send("once".utf8)
        let record = pair.client.output()
        pair.server.receive(record + record)
        #expect(pair.server.text == "once")
        #expect(pair.server.failure?.cause == .malformed)
    }
}

struct TLSConnectionAgreementTests {
    private let authority: TestAuthority

    init() throws {
        self.authority = try TestAuthority()
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func negotiatedDetailsAreReported(version: TLSVersion) throws {
        let pair = try self.authority.pair(maximum: version)
        pair.run()
        for end in [pair.client, pair.server] {
            #expect(end.version == "TLSv\(version.rawValue)")
            #expect(end.cipher == (version == .tls13 ? "TLS_AES_128_GCM_SHA256" : "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"))
            #expect(!end.isResumed)
        }
        #expect(pair.client.peerCertificates.map(\.names) == [["example.test"]])
        #expect(pair.server.peerCertificates.isEmpty)
    }

    @Test func nothingIsAgreedOnBeforeTheHandshake() throws {
        let pair = try self.authority.pair()
        #expect(pair.client.cipher == "")
        #expect(pair.client.protocolName == nil)
        #expect(pair.client.peerCertificates.isEmpty)
        #expect(!pair.client.isResumed)
    }

    @Test func theProtocolIsKnownToBoth() throws {
        let pair = try self.authority.pair(peer: .example(protocols: ["h2", "http/1.1"]), protocolName: "h2")
        pair.run()
        #expect(pair.client.protocolName == "h2")
        #expect(pair.server.protocolName == "h2")
    }

    /// A client without a certificate has sent none; a server does not report its own.
    @Test func aChainIsReportedInTheOrderItWasSent() throws {
        let root = try TestCertificate("root", isAuthority: true)
        let middle = try TestCertificate("middle", issuer: root, isAuthority: true)
        let leaf = try TestCertificate("leaf", for: ["example.test"], issuer: middle)
        let pair = try self.authority.pair(peer: .example(policy: .disabled), leaf: leaf.leaf(sending: [middle]))
        pair.run()
        #expect(pair.client.peerCertificates == [leaf.certificate.summary, middle.certificate.summary])
        #expect(pair.server.peerCertificates.isEmpty)
    }
}
