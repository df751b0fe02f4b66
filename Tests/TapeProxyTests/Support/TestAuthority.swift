import Foundation
import TapeProxy

@testable import TapeTLS

/// A fresh certificate authority, as text.
struct TestAuthority {
    private static let day: Int64 = 86_400

    let certificatePEM: [UInt8]
    let keyPEM: [UInt8]

    init() throws {
        let authority = try CertificateAuthority.make(now: 1_790_000_000)
        self.certificatePEM = authority.certificatePEM()
        self.keyPEM = try authority.keyPEM()
    }

    var settings: TLSSettings { TLSSettings(authority: .pem(certificate: self.certificatePEM, key: self.keyPEM)) }

    /// A certificate signed by the authority, with its key.
    ///
    /// - Parameter days: when it was made, in days from now. A certificate is valid for a year.
    func leaf(for names: [String], days: Int64 = 0) throws -> Leaf {
        let now = Int64(Date().timeIntervalSince1970)
        let authority = try CertificateAuthority(certificatePEM: self.certificatePEM, keyPEM: self.keyPEM, now: now)
        return try LeafStore(authority: authority).mint(
            host: names.first ?? "example.test", serverName: nil, upstreamNames: names, now: now + days * Self.day)
    }

    /// A certificate for a client, with its key.
    func identity(for name: String) throws -> ClientIdentity {
        let now = Int64(Date().timeIntervalSince1970)
        let issuer = try Certificate(pem: self.certificatePEM)
        let key = try PrivateKey.makeP256()
        let draft = try CertificateDraft(key: key, notBefore: now - Self.day, notAfter: now + Self.day)
        try draft.setCommonName(name)
        try draft.setIssuer(issuer.pointer)
        try draft.add(.endEntity)
        let certificate = try draft.signed(with: PrivateKey(pem: self.keyPEM))
        return try ClientIdentity(certificatePEM: certificate.pem(), keyPEM: key.pem())
    }

    /// The data by which others pin or list it.
    var summary: CertificateSummary { get throws { try Certificate(pem: self.certificatePEM).summary } }
}
