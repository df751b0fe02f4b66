@testable import TapeTLS
import Testing

@Suite struct CertificateSummaryTests {
    private let start: Int64 = 1_790_000_000

    private func certificate(
        names: [[UInt8]]? = nil, commonName: String = "example.test", notAfter: Int64 = 1_800_000_000
    ) throws -> Certificate {
        let key = try PrivateKey.makeP256()
        let draft = try CertificateDraft(key: key, notBefore: self.start, notAfter: notAfter)
        try draft.setCommonName(commonName)
        try draft.setIssuerToSelf()
        if let names {
            let value = DER.element(DER.sequence, names.flatMap { $0 })
            try draft.add(CertificateExtension(identifier: 85, isCritical: false, value: value))
        }
        return try draft.signed(with: key)
    }

    private func dns(_ name: [UInt8]) -> [UInt8] { DER.element(0x82, name) }

    @Test func summaryMatchesTheCertificate() throws {
        let summary = try self.certificate(names: [
            self.dns(Array("WWW.Example.test".utf8)), DER.element(0x87, [192, 0, 2, 7]), DER.element(0x81, Array("a@b".utf8)),
            DER.element(0x87, [UInt8](repeating: 0, count: 15) + [1]),
        ]).summary
        #expect(summary.subject == "CN=example.test")
        #expect(summary.issuer == "CN=example.test")
        #expect(summary.notBefore == self.start)
        #expect(summary.notAfter == 1_800_000_000)
        #expect(summary.names == ["WWW.Example.test", "192.0.2.7", "::1"])
        #expect(summary.isAuthority == false)
    }

    @Test func theFingerprintIsThatOfTheDERForm() throws {
        let certificate = try self.certificate()
        guard var digest = SHA256Digest() else { return }
        certificate.der().withUnsafeBytes { digest.update($0) }
        #expect(certificate.summary.fingerprint == digest.finalize())
        #expect(certificate.summary.publicKeyDigest.count == 32)
    }

    @Test func twoCertificatesOfOneKeyShareItsDigestOnly() throws {
        let key = try PrivateKey.makeP256()
        let first = try CertificateDraft(key: key, notBefore: 0, notAfter: 1).signed(with: key).summary
        let second = try CertificateDraft(key: key, notBefore: 0, notAfter: 1).signed(with: key).summary
        #expect(first.publicKeyDigest == second.publicKeyDigest)
        #expect(first.fingerprint != second.fingerprint)
    }

    /// A NUL ended the name for programs that read C strings: a certificate for one name passed for another.
    @Test func aNameWithControlBytesOrNoNameIsLeftOut() throws {
        let summary = try self.certificate(names: [
            self.dns(Array("bank.test\0.evil.test".utf8)), self.dns(Array("a b.test".utf8)), self.dns([]), self.dns([0xFF, 0x41]),
            self.dns([UInt8](repeating: 0x61, count: 256)), DER.element(0x87, [1, 2, 3]), self.dns(Array("good.test".utf8)),
        ]).summary
        #expect(summary.names == ["good.test"])
    }

    @Test func aNULInTheSubjectIsEscaped() throws {
        #expect(try self.certificate(commonName: "bank.test\0.evil").summary.subject == "CN=bank.test\\00.evil")
        #expect(try self.certificate(commonName: "b\u{FC}cher, \u{4F60}").summary.subject == "CN=b\u{FC}cher\\, \u{4F60}")
    }

    @Test func hugeListsAndTextsAreCut() throws {
        let many = (0..<5000).map { self.dns(Array("host\($0).test".utf8)) }
        let summary = try self.certificate(names: many).summary
        #expect(summary.names.count == 1000)
        #expect(summary.names.last == "host999.test")
    }

    @Test func invalidAlternativeNamesAreEmpty() throws {
        #expect(try self.certificate(names: [[0x82, 0x7F, 0x41]]).summary.names.isEmpty)
        #expect(ErrorQueue.drain().isEmpty)
    }

    @Test func farAndUnreadableTimesDoNotTrap() throws {
        // 9999-12-31T23:59:59Z, which means "no end" in RFC 5280, 4.1.2.5.
        let certificate = try self.certificate(notAfter: 253_402_300_799)
        #expect(certificate.summary.notAfter == 253_402_300_799)

        var der = certificate.der()
        let time = Array("99991231235959Z".utf8)
        let place = try #require(der.indices.first { der[$0...].starts(with: time) })
        der[place] = 0x58
        let unreadable = try Certificate(der: der).summary
        #expect(unreadable.notAfter == 0)
        #expect(unreadable.notBefore == self.start)
        #expect(ErrorQueue.drain().isEmpty)
    }

    @Test func anAuthorityIsOneByItsExtensions() throws {
        #expect(try CertificateAuthority.make(now: self.start).certificate.isAuthority)
    }
}

@Suite struct CertificateAddressTests {
    @Test func readsAndWritesLiterals() {
        #expect(CertificateAddress("192.0.2.1")?.bytes == [192, 0, 2, 1])
        #expect(CertificateAddress("[::1]")?.bytes == [UInt8](repeating: 0, count: 15) + [1])
        #expect(CertificateAddress("2001:DB8:0:0::1")?.description == "2001:db8::1")
        #expect(CertificateAddress([127, 0, 0, 1])?.description == "127.0.0.1")
    }

    @Test(arguments: ["", "1", "1.2.3", "1.2.3.4.5", "256.1.1.1", "[]", "[", "1.2.3.4\0", "::1%lo", "example.test", "01.2.3.4"])
    func invalidAddressIsNil(text: String) {
        #expect(CertificateAddress(text) == nil)
    }

    @Test func otherLengthsAreNoAddresses() {
        for count in [0, 3, 5, 8, 15, 17, 32] { #expect(CertificateAddress([UInt8](repeating: 1, count: count)) == nil) }
    }
}
