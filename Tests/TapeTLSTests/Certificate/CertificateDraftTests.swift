import COpenSSL
import Testing
@testable import TapeTLS

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

    /// RFC 5280, 4.1.2.2: positive, at most 20 octets, unique.
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

    /// RFC 5280, 4.1.2.5: two digits for the year until 2049, four after it.
    @Test func timesChangeTheirFormIn2050() throws {
        let key = try PrivateKey.makeP256()
        let der = try CertificateDraft(key: key, notBefore: 2_524_607_999, notAfter: 2_524_608_000).signed(with: key).der()
        let text = String(decoding: der, as: UTF8.self)
        #expect(text.contains("\u{17}\u{0D}491231235959Z\u{18}\u{0F}20500101000000Z"))
    }
}
