import Testing

@testable import TapeTLS

/// Servers that authenticate their clients.
struct MutualTLSTests {
    private let authority: TestAuthority
    private let root: TestCertificate

    init() throws {
        self.authority = try TestAuthority()
        self.root = try TestCertificate("clients", isAuthority: true)
    }

    private func pair(_ identity: ClientIdentity?, _ version: TLSVersion, isRequired: Bool = true) throws -> TLSPair {
        let server = try TestAuthority.serverContext(maximum: version)
        try server.wantCertificates(from: self.root, in: self.authority.folder, isRequired: isRequired)
        let pair = try self.authority.pair(self.authority.clientContext(), server, peer: .example(identity: identity))
        pair.run()
        return pair
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func theIdentityIsShown(version: TLSVersion) throws {
        let pair = try self.pair(TestCertificate("client", issuer: self.root).identity(), version)
        #expect(pair.isEstablished)
        #expect(pair.server.progress == .needsInput)
        try pair.client.send("it is me".utf8)
        pair.run()
        #expect(pair.server.text == "it is me")
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func aCertificateThatIsMissingIsAskedFor(version: TLSVersion) throws {
        let pair = try self.pair(nil, version)
        #expect(pair.client.failure?.cause == .certificateRequired)
        #expect(pair.client.failure?.message.hasPrefix("it requires a client certificate") == true)
        #expect(!pair.server.isEstablished)
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func aServerCanDoWithout(version: TLSVersion) throws {
        let pair = try self.pair(nil, version, isRequired: false)
        #expect(pair.isEstablished)
        #expect(pair.client.progress == .needsInput)
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func aCertificateOfAnotherAuthorityIsRejected(version: TLSVersion) throws {
        let pair = try self.pair(TestCertificate("stranger").identity(), version)
        #expect(pair.client.failure?.cause == .certificateRejected)
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func anExpiredCertificateIsRejected(version: TLSVersion) throws {
        let pair = try self.pair(TestCertificate("client", issuer: self.root, days: -30 ..< -1).identity(), version)
        #expect(pair.client.failure?.cause == .certificateRejected)
    }

    @Test func noNeedlessHelloRetryRequestIsSent() throws {
        let pair = try self.authority.pair(peer: .example(identity: TestCertificate("client", issuer: self.root).identity()))
        pair.run()
        #expect(pair.isEstablished)
    }
}
