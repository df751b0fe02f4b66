internal import TapeTLS

/// The certificate authority as the magic host publishes it: its certificate, never its key.
struct MagicAuthority: Sendable, Hashable {
    /// The common name, under which systems list it.
    var name: String
    /// SHA-256 of the DER, 32 bytes.
    var fingerprint: [UInt8]
    var pem: [UInt8]
    var der: [UInt8]
    /// PKCS #12 that contains only the certificate.
    var p12: [UInt8]
    /// The password of the `p12` file. It is public, because the file contains no key.
    var p12Password: String
}

extension MagicAuthority {
    /// Android accepts no PKCS #12 without a password, and Java none below six characters. It protects nothing, because the file contains
    /// no key. `wiretape ca export` uses the same one.
    private static let password = "changeit"

    init(_ authority: borrowing CertificateAuthority) throws(CertificateError) {
        let summary = authority.certificate
        let name = summary.subject.split(separator: ",").first { $0.hasPrefix("CN=") }.map { String($0.dropFirst(3)) }
        self.init(
            name: name ?? summary.subject, fingerprint: summary.fingerprint, pem: authority.certificatePEM(),
            der: authority.certificateDER(), p12: try authority.certificateP12(password: Self.password), p12Password: Self.password)
    }
}
