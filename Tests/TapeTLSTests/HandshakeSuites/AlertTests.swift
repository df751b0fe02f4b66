import Testing

@testable import TapeTLS

/// The alerts with which peers refuse (RFC 8446, 6), and our causes for them.
struct AlertTests {
    private static let causes: [(UInt8, TLSFailure.Cause)] = [
        (10, .other), (20, .malformed), (40, .noSharedCipher), (42, .certificateRejected), (43, .certificateRejected),
        (44, .certificateRejected),
        (45, .certificateRejected), (46, .certificateRejected), (47, .other), (48, .certificateRejected), (49, .certificateRejected),
        (50, .other), (51, .other), (70, .noSharedVersion), (71, .noSharedCipher), (80, .other), (86, .other), (90, .closed), (109, .other),
        (110, .other), (112, .nameMismatch), (113, .certificateRejected), (116, .certificateRequired), (120, .noSharedProtocol),
        (255, .other),
    ]

    private let authority: TestAuthority

    init() throws {
        self.authority = try TestAuthority()
    }

    @Test(arguments: Self.causes.filter { $0.0 != 20 })
    func aClientKnowsWhatAnAlertMeans(number: UInt8, cause: TLSFailure.Cause) throws {
        let pair = try self.authority.pair()
        pair.client.receive()
        pair.client.receive(TLSRecord.fatalAlert(number))
        #expect(pair.client.failure?.cause == cause)
        #expect(pair.client.failure?.reasons.count == 1)
        // An alert is never answered.
        #expect(TLSRecord.split(pair.client.output()).allSatisfy { $0.first == TLSRecord.handshake })
    }

    @Test(arguments: Self.causes.filter { $0.0 != 20 }, [TLSVersion.tls12, .tls13])
    func aServerKnowsWhatAnAlertMeans(alert: (UInt8, TLSFailure.Cause), version: TLSVersion) throws {
        let pair = try self.authority.pair(maximum: version)
        pair.client.receive()
        pair.server.receive(pair.client.output())
        pair.server.receive(TLSRecord.fatalAlert(alert.0))
        // In TLS 1.3, user_canceled means nothing until close_notify follows (RFC 8446, 6.1).
        if alert.0 == 90, version == .tls13 { pair.server.receive([TLSRecord.alert, 3, 3, 0, 2, 1, 0]) }
        #expect(pair.server.failure?.cause == alert.1)
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func aClientThatDoesNotTrustUsSaysSo(version: TLSVersion) throws {
        let pair = try self.authority.pair(TLSClientContext(trustsSystem: false), TestAuthority.serverContext(maximum: version))
        pair.run()
        #expect(pair.client.failure?.cause == .unknownAuthority)
        #expect(pair.server.failure?.cause == .certificateRejected)
        #expect(pair.server.failure?.message.contains("unknown ca") == true)
    }

    @Test func endlessWarningsEnd() throws {
        let pair = try self.authority.pair()
        pair.client.receive()
        pair.server.receive(pair.client.output())
        let warning: [UInt8] = [TLSRecord.alert, 3, 3, 0, 2, 1, 90]
        for _ in 0..<20 where pair.server.failure == nil { pair.server.receive(warning) }
        #expect(pair.server.failure != nil)
    }

    @Test func missingSharedCipherIsDistinguished() throws {
        let client = try self.authority.clientContext(maximum: .tls12)
        let server = try TestAuthority.serverContext(maximum: .tls12)
        server.speakOnly("AES128-SHA256")
        let pair = try self.authority.pair(client, server)
        pair.run()
        #expect(pair.client.failure?.cause == .noSharedCipher)
        #expect(pair.server.failure?.cause == .noSharedCipher)
    }
}
