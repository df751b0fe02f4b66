import Testing

@testable import TapeTLS

struct TLSConnectionAgreementTests {
    private let authority: TestAuthority

    init() throws {
        self.authority = try TestAuthority()
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func whatWasAgreedOnIsTold(version: TLSVersion) throws {
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

    /// A client without a certificate has sent none; a server has no say in its own.
    @Test func aChainIsToldInTheOrderItWasSent() throws {
        let root = try TestCertificate("root", isAuthority: true)
        let middle = try TestCertificate("middle", issuer: root, isAuthority: true)
        let leaf = try TestCertificate("leaf", for: ["example.test"], issuer: middle)
        let pair = try self.authority.pair(peer: .example(policy: .disabled), leaf: leaf.leaf(sending: [middle]))
        pair.run()
        #expect(pair.client.peerCertificates == [leaf.certificate.summary, middle.certificate.summary])
        #expect(pair.server.peerCertificates.isEmpty)
    }
}
