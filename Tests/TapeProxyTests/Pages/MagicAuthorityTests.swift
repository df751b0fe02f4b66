@testable import TapeProxy
import TapeTLS
import Testing

@Suite struct MagicAuthorityAuthorityTests {
    @Test func itIsTheAuthorityInEveryFormat() throws {
        let authority = try CertificateAuthority.make(now: 1_790_000_000)
        let magic = try MagicAuthority(authority)
        #expect(magic.name.hasPrefix("Wiretape CA "))
        #expect(authority.certificate.subject.contains(magic.name))
        #expect(magic.fingerprint == authority.certificate.fingerprint)
        #expect(magic.pem == authority.certificatePEM())
        #expect(try Certificate(der: magic.der).summary == authority.certificate)
        #expect(magic.p12.first == 0x30)
        #expect(magic.p12Password == "changeit")
    }

    @Test func noKeyIsInIt() throws {
        let authority = try CertificateAuthority.make(now: 1_790_000_000)
        let magic = try MagicAuthority(authority)
        for file in [magic.pem, magic.der, magic.p12] { #expect(!String(decoding: file, as: UTF8.self).contains("PRIVATE")) }
        #expect(throws: CertificateError.self) { _ = try PrivateKey(pem: magic.pem) }
    }
}
