internal import COpenSSL

@testable import TapeTLS
import TapeTestSupport

/// A certificate with its key that can have any defect of a server's certificate.
final class TestCertificate {
    private static let day: Int64 = 86_400

    let certificate: Certificate
    let key: PrivateKey

    /// - Parameters:
    ///   - issuer: the signer; nil for a self-signed certificate.
    ///   - days: the validity, in days from today.
    ///   - dnsName: if `names` is empty, the only alternative name, always a dNSName; nil omits the extension.
    init(
        _ name: String, for names: [String] = [], issuer: TestCertificate? = nil, isAuthority: Bool = false, days: Range<Int64> = -1..<30,
        dnsName: String? = nil
    ) throws {
        let key = try PrivateKey.makeP256()
        let draft = try CertificateDraft(
            key: key, notBefore: TestAuthority.now + days.lowerBound * Self.day, notAfter: TestAuthority.now + days.upperBound * Self.day)
        try draft.setCommonName(name)
        if let issuer { try draft.setIssuer(issuer.certificate.pointer) } else { try draft.setIssuerToSelf() }
        try draft.add(isAuthority ? .authority : .endEntity)
        if !isAuthority, let first = names.first {
            try draft.add(.alternativeNames(LeafNames(host: first, upstream: names), isCritical: false))
        } else if let dnsName {
            let name = DER.element(DER.sequence, DER.element(0x82, Array(dnsName.utf8)))
            try draft.add(CertificateExtension(identifier: NID_subject_alt_name, isCritical: false, value: name))
        }
        if let issuer { self.certificate = try draft.signed(with: issuer.key) } else { self.certificate = try draft.signed(with: key) }
        self.key = key
    }

    /// The leaf that a server presents, with additional certificates.
    func leaf(sending chain: [TestCertificate] = []) throws -> Leaf {
        var issuers: [UInt8] = []
        for issuer in chain { issuers += issuer.certificate.pem() }
        return Leaf(
            names: LeafNames(host: "example.test"), certificate: try Certificate(der: self.certificate.der()), key: self.key.shared(),
            issuers: try CertificateChain(pem: issuers))
    }

    func identity() throws -> ClientIdentity {
        try ClientIdentity(certificatePEM: self.certificate.pem(), keyPEM: self.key.pem())
    }

    var der: [UInt8] { self.certificate.der() }
    var keyDigest: [UInt8] { self.certificate.summary.publicKeyDigest }

    /// A client that trusts only the given certificate.
    static func clientContext(trusting root: TestCertificate, in folder: TemporaryFolder) throws -> TLSClientContext {
        try TLSClientContext(trustsSystem: false, roots: [folder.write(root.certificate.pem(), to: "root.pem")])
    }
}
