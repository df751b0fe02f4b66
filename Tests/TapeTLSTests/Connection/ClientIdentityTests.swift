internal import COpenSSL
import Testing

@testable import TapeTLS

struct ClientIdentityTests {
    @Test func certificateAndKeyMayBeOneText() throws {
        let certificate = try TestCertificate("client")
        let both = certificate.certificate.pem() + (try certificate.key.pem())
        _ = try ClientIdentity(certificatePEM: both, keyPEM: both)
        #expect(ERR_peek_error() == 0)
    }

    @Test func aKeyOfAnotherCertificateIsRefused() throws {
        let certificate = try TestCertificate("client").certificate.pem()
        let key = try TestCertificate("other").key.pem()
        let error = #expect(throws: CertificateError.self) { _ = try ClientIdentity(certificatePEM: certificate, keyPEM: key) }
        #expect(error?.code == .mismatch)
        #expect(ERR_peek_error() == 0)
    }

    @Test func aTextWithoutCertificateIsRefused() throws {
        let key = try TestCertificate("client").key.pem()
        let error = #expect(throws: CertificateError.self) { _ = try ClientIdentity(certificatePEM: key, keyPEM: key) }
        #expect(error?.code == .damaged)
        #expect(ERR_peek_error() == 0)
    }

    @Test func aTextWithoutKeyIsRefused() throws {
        let certificate = try TestCertificate("client").certificate.pem()
        let error = #expect(throws: CertificateError.self) { _ = try ClientIdentity(certificatePEM: certificate, keyPEM: certificate) }
        #expect(error?.code == .damaged)
        #expect(ERR_peek_error() == 0)
    }

    @Test func theCertificatesBehindTheFirstAreShownToo() throws {
        let root = try TestCertificate("root", isAuthority: true)
        let middle = try TestCertificate("middle", issuer: root, isAuthority: true)
        let client = try TestCertificate("client", issuer: middle)
        let identity = try ClientIdentity(
            certificatePEM: client.certificate.pem() + middle.certificate.pem(), keyPEM: client.key.pem())
        let authority = try TestAuthority()
        let server = try TestAuthority.serverContext()
        // It knows the root alone: the chain has to come from the client.
        try server.wantCertificates(from: root, in: authority.folder)
        let pair = try authority.pair(authority.clientContext(), server, peer: .example(identity: identity))
        pair.run()
        #expect(pair.isEstablished)
        #expect(pair.server.progress == .needsInput)
    }
}
