import Testing

@testable import TapeTLS

struct LeafConnectionTests {
    private func sent(_ leaf: Leaf) throws -> [CertificateSummary] {
        let pair = try TestAuthority().pair(peer: .example(policy: .disabled), leaf: leaf)
        pair.run()
        #expect(pair.isEstablished)
        return pair.client.peerCertificates
    }

    @Test func intermediatesAreSentAndTheRootIsNot() throws {
        let root = try TestCertificate("root", isAuthority: true)
        let middle = try TestCertificate("middle", issuer: root, isAuthority: true)
        let leaf = try TestCertificate("leaf", for: ["example.test"], issuer: middle)
        let sent = try self.sent(leaf.leaf(sending: [middle, root]))
        #expect(sent.map(\.subject) == ["CN=leaf", "CN=middle"])
    }

    @Test func aSelfSignedCertificateIsSentItself() throws {
        let leaf = try TestCertificate("alone", for: ["example.test"])
        #expect(try self.sent(leaf.leaf()).map(\.subject) == ["CN=alone"])
    }

    @Test func aKeyOfAnotherCertificateFails() throws {
        let own = try TestCertificate("own", for: ["example.test"])
        let other = try TestCertificate("other", for: ["example.test"])
        let leaf = Leaf(
            names: LeafNames(host: "example.test"), certificate: try Certificate(der: own.der), key: other.key.shared(),
            issuers: try CertificateChain(pem: []))
        var connection = try TLSConnection(server: TestAuthority.serverContext())
        let error = #expect(throws: TLSFailure.self) { try connection.answer(leaf, protocolName: nil) }
        #expect(error?.reasons == ["key values mismatch"])
    }
}
