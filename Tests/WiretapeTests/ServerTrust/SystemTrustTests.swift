#if canImport(Security)
import Foundation
import Security
import Testing

@testable import Wiretape

@Suite struct SystemTrustTests {
    private func trust(_ der: [UInt8]) throws -> SystemTrust {
        let certificate = try #require(SecCertificateCreateWithData(nil, Data(der) as CFData))
        var trust: SecTrust?
        #expect(SecTrustCreateWithCertificates(certificate, SecPolicyCreateSSL(true, nil), &trust) == errSecSuccess)
        return SystemTrust(try #require(trust))
    }

    @Test func theChainBeginsWithTheLeaf() throws { #expect(try self.trust(SampleCertificate.ec).chain.first == SampleCertificate.ec) }

    @Test func aSelfSignedCertificateIsNotTrusted() throws {
        guard case .failure(let error) = try self.trust(SampleCertificate.ec).answer(.init(host: "ec.example"), for: "ec.example") else {
            Issue.record("trusted")
            return
        }
        #expect(error.code == .untrusted && error.message.hasPrefix("the certificates of \"ec.example\" are not trusted ("))
    }
}
#endif
