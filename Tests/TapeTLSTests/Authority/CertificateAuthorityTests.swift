import COpenSSL
@testable import TapeTLS
import Testing

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

    @Test func itsCertificateCanBeginEarlierWithTheSameNameAndKey() throws {
        let authority = try CertificateAuthority.make(now: self.now)
        let past = self.now - 5000 * self.day
        #expect(authority.signs(at: self.now) && !authority.signs(at: past) && !authority.signs(at: self.now + 4000 * self.day))
        let earlier = try CertificateAuthority(
            certificatePEM: authority.certificatePEM(validFrom: past - 10 * self.day), keyPEM: authority.keyPEM(), now: past)
        #expect(earlier.signs(at: past) && earlier.signs(at: self.now))
        #expect(earlier.certificate.notBefore == past - 10 * self.day && earlier.certificate.notAfter == authority.certificate.notAfter)
        #expect(earlier.certificate.subject == authority.certificate.subject)
        #expect(earlier.certificate.publicKeyDigest == authority.certificate.publicKeyDigest && earlier.certificate.isAuthority)
        #expect(earlier.certificate.fingerprint != authority.certificate.fingerprint)
        // 0 is X509_V_OK: whoever trusts the one accepts leaves of the other.
        let leaf = try authority.mint(LeafNames(host: "a.test"), key: PrivateKey.makeP256(), now: past)
        let own = try Certificate(der: earlier.certificateDER())
        #expect(X509_check_issued(own.pointer, leaf.pointer) == 0 && X509_verify(leaf.pointer, X509_get0_pubkey(own.pointer)) == 1)
        #expect(X509_verify(own.pointer, X509_get0_pubkey(own.pointer)) == 1)
        #expect(leaf.summary.notBefore == past - 2 * self.day)
        // It does not end before leaves of that time do.
        let old = try CertificateAuthority(
            certificatePEM: authority.certificatePEM(validFrom: past - 9000 * self.day), keyPEM: authority.keyPEM(), now: past)
        #expect(old.certificate.notAfter == authority.certificate.notAfter)
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
        // 0 is X509_V_OK: names, key identifiers and key usage match.
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

    /// RFC 5280, appendix A.1: at most 64 characters; a long name is only in the alternative names, which are critical then.
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

    @Test func mismatchedFilesAreRefused() throws {
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

@Suite struct CertificateDraftTests {
    @Test func aSignedDraftVerifiesWithItsKeyOnly() throws {
        let key = try PrivateKey.makeP256()
        let other = try PrivateKey.makeP256()
        let draft = try CertificateDraft(key: key, notBefore: 1_790_000_000, notAfter: 1_790_000_001)
        let digest = draft.publicKeyDigest
        try draft.setCommonName("A")
        try draft.setIssuerToSelf()
        let certificate = try draft.signed(with: key)
        #expect(X509_verify(certificate.pointer, key.pointer) == 1)
        #expect(X509_verify(certificate.pointer, other.pointer) != 1)
        #expect(X509_get_version(certificate.pointer) == 2)
        #expect(certificate.summary.publicKeyDigest == digest)
        ErrorQueue.clear()
    }

    /// RFC 5280, 4.1.2.2: positive, at most 20 bytes, unique.
    @Test func serialNumbersArePositiveAndDiffer() throws {
        let key = try PrivateKey.makeP256()
        var seen: Set<[UInt8]> = []
        for _ in 0..<200 {
            let der = try CertificateDraft(key: key, notBefore: 0, notAfter: 1).signed(with: key).der()
            // SEQUENCE, SEQUENCE, [0] version, INTEGER: the serial number is the fourth element of a small certificate.
            let version: [UInt8] = [0xA0, 0x03, 0x02, 0x01, 0x02, 0x02, 16]
            let start = try #require(der.indices.first { der[$0...].starts(with: version) }) + version.count
            let serial = Array(der[start..<start + 16])
            #expect((0x40...0x7F).contains(serial[0]))
            seen.insert(serial)
        }
        #expect(seen.count == 200)
    }

    /// RFC 5280, 4.1.2.5: a year of two digits until 2049, and of four digits after it.
    @Test func timesChangeTheirFormIn2050() throws {
        let key = try PrivateKey.makeP256()
        let der = try CertificateDraft(key: key, notBefore: 2_524_607_999, notAfter: 2_524_608_000).signed(with: key).der()
        let text = String(decoding: der, as: UTF8.self)
        #expect(text.contains("\u{17}\u{0D}491231235959Z\u{18}\u{0F}20500101000000Z"))
    }
}

@Suite struct CertificateExtensionTests {
    @Test func namesAreTaggedByTheirKind() {
        let names = LeafNames(host: "a.test", upstream: ["192.0.2.1"])
        let item = CertificateExtension.alternativeNames(names, isCritical: true)
        #expect(item.value == [0x30, 0x0E, 0x82, 0x06] + Array("a.test".utf8) + [0x87, 0x04, 192, 0, 2, 1])
        #expect(item.isCritical)
    }

    @Test func keyIdentifiersAreTwentyBytes() {
        let item = CertificateExtension.keyIdentifier(Array(0..<32))
        #expect(item.value == [0x04, 20] + Array(0..<20))
        #expect(CertificateExtension.authorityKeyIdentifier([9, 8]).value == [0x30, 0x04, 0x80, 0x02, 9, 8])
    }

    @Test func constraintsFollowTheStandard() {
        #expect(CertificateExtension.authority.value == [0x30, 0x03, 0x01, 0x01, 0xFF])
        #expect(CertificateExtension.endEntity.value == [0x30, 0x00])
    }
}

@Suite struct DERTests {
    @Test func lengthsTakeAsManyBytesAsTheyNeed() {
        #expect(DER.element(0x04, []) == [0x04, 0x00])
        #expect(DER.element(0x04, [UInt8](repeating: 7, count: 127)).prefix(2) == [0x04, 0x7F])
        #expect(DER.element(0x04, [UInt8](repeating: 7, count: 128)).prefix(3) == [0x04, 0x81, 0x80])
        #expect(DER.element(0x04, [UInt8](repeating: 7, count: 65_537)).prefix(5) == [0x04, 0x83, 0x01, 0x00, 0x01])
        #expect(DER.element(0x04, [UInt8](repeating: 7, count: 300)).count == 304)
    }

    @Test func bitsAreCountedFromTheFirstAndCutAtTheLast() {
        #expect(DER.bits([0]) == [0x03, 0x02, 0x07, 0x80])
        #expect(DER.bits([5, 6]) == [0x03, 0x02, 0x01, 0x06])
        #expect(DER.bits([8, 7]) == [0x03, 0x03, 0x07, 0x01, 0x80])
        #expect(DER.bits([]) == [0x03, 0x01, 0x00])
    }
}
