import COpenSSL
@testable import TapeTLS
import Testing
import TapeTestSupport

@Suite struct CertificateTests {
    private let now: Int64 = 1_790_000_000

    private func sample() throws -> Certificate {
        let authority = try CertificateAuthority.make(now: self.now)
        let names = LeafNames(host: "example.test", upstream: ["*.example.test", "192.0.2.1", "2001:db8::1"])
        return try authority.mint(names, key: PrivateKey.makeP256(), now: self.now)
    }

    @Test func bothFormsComeBack() throws {
        let certificate = try self.sample()
        let fromDER = try Certificate(der: certificate.der())
        let fromPEM = try Certificate(pem: certificate.pem())
        #expect(fromDER.der() == certificate.der())
        #expect(fromPEM.der() == certificate.der())
        #expect(fromPEM.summary == certificate.summary)
        #expect(certificate.notBefore == certificate.summary.notBefore)
        #expect(certificate.notAfter == certificate.summary.notAfter)
    }

    @Test func theHashOfTheSubjectHasEightDigits() throws {
        let hash = try self.sample().subjectHash
        #expect(hash.utf8.count == 8 && hash.allSatisfy { $0.isHexDigit && !$0.isUppercase })
    }

    @Test func bytesAfterTheCertificateAreRefused() throws {
        let der = try self.sample().der()
        #expect(certificateError { _ = try Certificate(der: der + [0]) }?.message.hasPrefix("1 bytes follow") == true)
        #expect(certificateError { _ = try Certificate(der: Array(der.dropLast())) }?.code == .damaged)
        #expect(certificateError { _ = try Certificate(der: []) }?.code == .damaged)
    }

    @Test func aTextWithoutACertificateIsDamaged() throws {
        #expect(certificateError { _ = try Certificate(pem: Array("nothing".utf8)) }?.code == .damaged)
        let key = try PrivateKey.makeP256().pem()
        #expect(certificateError { _ = try Certificate(pem: key) }?.message.contains("-----BEGIN CERTIFICATE-----") == true)
    }

    @Test func aMissingChainIsNil() throws {
        let none = try Certificate.chain(pem: Array("nothing\n".utf8))
        let isNone = none == nil
        #expect(isNone)
        let two = try Certificate.chain(pem: self.sample().pem() + self.sample().pem())
        #expect(two?.count == 2)
    }

    /// Reading a certificate with any change ends in a summary or an error.
    @Test func noMutationOfTheDERFormCrashes() throws {
        let der = try self.sample().der()
        var generator = SeededGenerator(seed: 1)
        var read = 0
        for _ in 0..<6000 {
            var mutation = der
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = Int.random(in: 0..<mutation.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: mutation[index] = UInt8.random(in: 0...255, using: &generator)
                case 1: mutation[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                case 2: mutation.remove(at: index)
                default: mutation.insert([0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &generator) ?? 0, at: index)
                }
            }
            guard let certificate = try? Certificate(der: mutation) else { continue }
            read += 1
            let summary = certificate.summary
            #expect(summary.names.count <= 1000)
            #expect(!certificate.pem().isEmpty)
        }
        // Most changes to a signature or a key keep the form valid: the test would prove nothing without them.
        #expect(read > 500)
        #expect(ErrorQueue.drain().isEmpty)
    }

    @Test func noMutationOfThePEMFormCrashes() throws {
        let pem = try self.sample().pem()
        var generator = SeededGenerator(seed: 2)
        for _ in 0..<3000 {
            var mutation = pem
            let index = Int.random(in: 0..<mutation.count, using: &generator)
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: mutation[index] = UInt8.random(in: 0...255, using: &generator)
            case 1: mutation.removeLast(index)
            default: mutation.insert(contentsOf: mutation.prefix(index), at: index)
            }
            let error = certificateError { _ = try Certificate(pem: mutation).summary }
            #expect(error == nil || error?.code == .damaged)
        }
    }
}

@Suite struct CertificateKeyTests {
    @Test func aKeyOnACurveIsNamedByTheCurve() throws {
        let authority = try CertificateAuthority.make(now: 1_795_262_400)
        #expect(try Certificate(pem: authority.certificatePEM()).keyDescription == "P-256 (EC, 256 bits)")
    }

    /// Created with `openssl req -x509 -newkey rsa:1024 -nodes -subj /CN=x -days 36500`; its key no longer exists.
    private static let rsa = """
        -----BEGIN CERTIFICATE-----
        MIIB9jCCAV+gAwIBAgIUXpCeP/5d9he9o2+U0ISR1waMJQIwDQYJKoZIhvcNAQEL
        BQAwDDEKMAgGA1UEAwwBeDAgFw0yNjExMjEyMTAzNDZaGA8yMTI2MTAyODIxMDM0
        NlowDDEKMAgGA1UEAwwBeDCBnzANBgkqhkiG9w0BAQEFAAOBjQAwgYkCgYEAqQ8d
        eiSf3JHPJXYsvrrbBaqVBtQjcWgBseu9G4xXKud0Cft4oHBY6J2MQ5TcA2yhErce
        07k0hM8rdqkp8KOqN3QcAFo9OByy5xldviUewJUpiPpQWIZN/LCAAtfvXSuK9Lpq
        22/hP+uDltStyE7Mug+GWLPPxovNWITSIwAYhw8CAwEAAaNTMFEwHQYDVR0OBBYE
        FERc7aaq7bH4T6WkPkdgEbRy87q2MB8GA1UdIwQYMBaAFERc7aaq7bH4T6WkPkdg
        EbRy87q2MA8GA1UdEwEB/wQFMAMBAf8wDQYJKoZIhvcNAQELBQADgYEAlXzMbsj/
        5Rh+PPtd6yZ/gLZ8VUKlRrrntj5lfDTmYsTHHONajcEiqxM/Sx7BH/0fL6mDqm4Z
        YU0vABXKxEPDAVh7mclI5Ik1bADBOHN65OqJTXWzVKdynrVnU2avMRDmOtEnkHTI
        uAC65BRyrpNRj/UTJYp8K/innjOIDcxKLI4=
        -----END CERTIFICATE-----
        """

    @Test func aKeyOnNoCurveIsNamedByItsKind() throws {
        #expect(try Certificate(pem: Array(Self.rsa.utf8)).keyDescription == "RSA, 1024 bits")
    }
}

@Suite struct MemoryBIOTests {
    @Test func holdsWhatItWasGivenAndWhatIsWritten() throws {
        let bio = try MemoryBIO([1, 2, 0, 3])
        let more: [UInt8] = [4, 5]
        #expect(BIO_write(bio.pointer, more, 2) == 2)
        #expect(bio.bytes == [1, 2, 0, 3, 4, 5])
    }

    @Test func anEmptyOneHoldsNothing() throws {
        let bio = try MemoryBIO()
        #expect(bio.bytes.isEmpty)
    }

    @Test func moreThanTheLimitIsRefused() {
        let error = certificateError { _ = try MemoryBIO([UInt8](repeating: 0x20, count: MemoryBIO.limit + 1)) }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("16 MiB") == true)
    }
}
