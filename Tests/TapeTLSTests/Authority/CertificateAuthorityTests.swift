import COpenSSL
import Testing
@testable import TapeTLS

@Suite struct CertificateAuthorityTests {
    private let now: Int64 = 1_790_000_000
    private let day: Int64 = 86_400

    private func load(_ certificate: [UInt8], _ key: [UInt8], now: Int64? = nil) -> CertificateError? {
        certificateError { _ = try CertificateAuthority(certificatePEM: certificate, keyPEM: key, now: now ?? self.now) }
    }

    @Test func aNewAuthorityIsOneForTenYears() throws {
        let summary = try CertificateAuthority.make(now: self.now).certificate
        #expect(summary.isAuthority)
        #expect(summary.subject.hasPrefix("CN=Wiretape CA "))
        #expect(summary.subject.utf8.count == "CN=Wiretape CA 01234567".utf8.count)
        #expect(summary.issuer == summary.subject)
        #expect(summary.notBefore == self.now - 2 * self.day)
        #expect(summary.notAfter - summary.notBefore == 3650 * self.day)
        #expect(summary.names.isEmpty)
        #expect(try CertificateAuthority.make(now: self.now).certificate.subject != summary.subject)
    }

    @Test func comesBackFromItsPEM() throws {
        let authority = try CertificateAuthority.make(now: self.now)
        let again = try CertificateAuthority(certificatePEM: authority.certificatePEM(), keyPEM: authority.keyPEM(), now: self.now)
        #expect(again.certificate == authority.certificate)
        #expect(again.certificateDER() == authority.certificateDER())
        #expect(try again.keyPEM() == authority.keyPEM())
    }

    @Test func aLeafIsSignedNamedAndLimited() throws {
        let authority = try CertificateAuthority.make(now: self.now)
        let key = try PrivateKey.makeP256()
        let names = LeafNames(host: "example.test", upstream: ["*.example.test", "192.0.2.1"])
        let leaf = try authority.mint(names, key: key, now: self.now)
        let summary = leaf.summary
        #expect(summary.subject == "CN=example.test")
        #expect(summary.issuer == authority.certificate.subject)
        #expect(summary.names == ["example.test", "*.example.test", "192.0.2.1"])
        #expect(summary.isAuthority == false)
        #expect(summary.notBefore == self.now - 2 * self.day)
        #expect(summary.notAfter - summary.notBefore == 365 * self.day)
        #expect(X509_check_private_key(leaf.pointer, key.pointer) == 1)
        let own = try Certificate(der: authority.certificateDER())
        // 0 stands for X509_V_OK: names, key identifiers and key usage fit together.
        #expect(X509_check_issued(own.pointer, leaf.pointer) == 0)
        #expect(X509_verify(leaf.pointer, X509_get0_pubkey(own.pointer)) == 1)
    }

    @Test func aLeafEndsWithItsAuthority() throws {
        let authority = try CertificateAuthority.make(now: self.now)
        let late = authority.certificate.notAfter - 30 * self.day
        let names = LeafNames(host: "a.test")
        #expect(try authority.mint(names, key: PrivateKey.makeP256(), now: late).summary.notAfter == authority.certificate.notAfter)
        let end = authority.certificate.notAfter
        let error = certificateError { _ = try authority.mint(names, key: PrivateKey.makeP256(), now: end) }
        #expect(error?.code == .expired)
    }

    /// RFC 5280, appendix A.1: 64 characters at most; a long name stands in the alternative names alone, which are critical then.
    @Test func aLongNameLeavesTheSubjectEmpty() throws {
        let authority = try CertificateAuthority.make(now: self.now)
        let key = try PrivateKey.makeP256()
        let long = String(repeating: "a", count: 60) + ".test"
        let summary = try authority.mint(LeafNames(host: long), key: key, now: self.now).summary
        #expect(summary.subject == "")
        #expect(summary.names == [long])
        let fitting = String(long.dropFirst())
        #expect(try authority.mint(LeafNames(host: fitting), key: key, now: self.now).summary.subject == "CN=\(fitting)")
    }

    @Test func nothingIsIssuedForNoName() throws {
        let error = certificateError {
            _ = try CertificateAuthority.make(now: self.now).mint(LeafNames(host: "a b"), key: PrivateKey.makeP256(), now: self.now)
        }
        #expect(error?.code == .noName)
    }

    @Test func whatDoesNotFitIsRefused() throws {
        let authority = try CertificateAuthority.make(now: self.now)
        let certificate = authority.certificatePEM()
        let key = try authority.keyPEM()
        #expect(self.load(certificate, key) == nil)
        #expect(self.load(certificate, try PrivateKey.makeP256().pem())?.code == .mismatch)
        #expect(self.load([], key)?.code == .damaged)
        #expect(self.load(certificate, [])?.code == .damaged)
        #expect(self.load(certificate, Array(SampleKeys.encryptedPKCS8.utf8))?.code == .encrypted)
        #expect(self.load(certificate, key, now: authority.certificate.notAfter)?.code == .expired)
        #expect(self.load(certificate, key, now: authority.certificate.notBefore - 1)?.message.contains("clock") == true)
        #expect(ErrorQueue.drain().isEmpty)
    }

    @Test func aLeafIsNoAuthority() throws {
        let key = try PrivateKey.makeP256()
        let leaf = try CertificateAuthority.make(now: self.now).mint(LeafNames(host: "a.test"), key: key, now: self.now)
        let error = self.load(leaf.pem(), try key.pem())
        #expect(error?.code == .notAuthority)
        #expect(error?.message.contains("\"CN=a.test\"") == true)
    }

    @Test func intermediatesAreSentAfterTheOwnCertificate() throws {
        let root = try CertificateAuthority.make(now: self.now)
        let authority = try CertificateAuthority.make(now: self.now)
        let given = try CertificateAuthority(
            certificatePEM: root.certificatePEM() + authority.certificatePEM(), keyPEM: authority.keyPEM(), now: self.now
        )
        #expect(given.certificate == authority.certificate)
        #expect(given.issuers().der() == [authority.certificateDER(), root.certificateDER()])
    }
}
