internal import TapeTLS

/// The certificate authority as the magic host hands it out: its certificate, never its key.
struct MagicAuthority: Sendable, Hashable {
    /// As systems list it: the common name.
    var name: String
    /// SHA-256 of the DER, 32 bytes.
    var fingerprint: [UInt8]
    var pem: [UInt8]
    var der: [UInt8]
    /// PKCS #12 with the certificate alone.
    var p12: [UInt8]
    /// The password of the `p12` file, public because the file has no key.
    var p12Password: String
}

extension MagicAuthority {
    /// Android takes no PKCS #12 without a password, Java none below six characters; it guards nothing, since no key is inside. The same
    /// as in `wiretape ca export`.
    private static let password = "changeit"

    init(_ authority: borrowing CertificateAuthority) throws(CertificateError) {
        let summary = authority.certificate
        let name = summary.subject.split(separator: ",").first { $0.hasPrefix("CN=") }.map { String($0.dropFirst(3)) }
        self.init(
            name: name ?? summary.subject, fingerprint: summary.fingerprint, pem: authority.certificatePEM(),
            der: authority.certificateDER(), p12: try authority.certificateP12(password: Self.password), p12Password: Self.password)
    }
}
