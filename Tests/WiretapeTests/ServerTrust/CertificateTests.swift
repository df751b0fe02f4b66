import TapeTestSupport
import Testing

@testable import Wiretape

@Suite struct CertificateTests {
    @Test(arguments: [
        (SampleCertificate.rsa, SampleCertificate.rsaPin), (SampleCertificate.ec, SampleCertificate.ecPin),
        (SampleCertificate.ed, SampleCertificate.edPin), (SampleCertificate.v1, SampleCertificate.v1Pin),
    ])
    func keysArePinnedAsOpenSSLPinsThem(der: [UInt8], pin: String) throws {
        #expect(try #require(Certificate(der)).publicKeyPin?.description == pin)
    }

    @Test func namesOfHostsAreRead() throws {
        let rsa = try #require(Certificate(SampleCertificate.rsa))
        #expect(rsa.hosts == ["www.example.com", "*.wild.example", "*.com"])
        #expect(rsa.addresses == [[127, 0, 0, 1], Array(repeating: 0, count: 15) + [1]])
        #expect(try #require(Certificate(SampleCertificate.ec)).hosts == ["ec.example"])
        #expect(try #require(Certificate(SampleCertificate.v1)).hosts == [])
    }

    @Test(arguments: [
        ("www.example.com", true), ("WWW.Example.COM", true), ("www.example.com.", true), ("example.com", false),
        ("a.www.example.com", false), ("a.wild.example", true), ("wild.example", false), ("a.b.wild.example", false),
        ("anything.com", false), ("common.example", false), ("127.0.0.1", true),
        ("127.0.0.2", false), ("::1", true), ("[::1]", true), ("::2", false), ("", false), ("*.wild.example", true),
    ])
    func hostsThatItIsFor(host: String, isNamed: Bool) throws {
        #expect(try #require(Certificate(SampleCertificate.rsa)).names(host) == isNamed)
    }

    @Test func aCommonNameDoesNotCount() throws { #expect(try #require(Certificate(SampleCertificate.ed)).names("ed.example") == false) }

    @Test func whatIsNoCertificateIsNone() {
        #expect(Certificate([]) == nil)
        #expect(Certificate(Array("-----BEGIN".utf8)) == nil)
        #expect(Certificate(SampleCertificate.ec + [0]) == nil)
        for length in 0..<SampleCertificate.ec.count { #expect(Certificate(Array(SampleCertificate.ec.prefix(length))) == nil) }
    }

    /// Whatever stands in it: a certificate, or none, and never a crash.
    @Test func damagedOnesAreRead() {
        var generator = SeededGenerator(seed: 7)
        for original in [SampleCertificate.rsa, SampleCertificate.ec, SampleCertificate.v1] {
            for _ in 0..<2000 {
                var damaged = original
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    damaged[Int.random(in: damaged.indices, using: &generator)] = UInt8.random(in: .min ... .max, using: &generator)
                }
                _ = Certificate(damaged)?.names("www.example.com")
            }
        }
    }
}
