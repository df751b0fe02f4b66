internal import COpenSSL

/// A certificate while it is written; signing it ends the draft. It knows the form, not what belongs into whose certificate.
struct CertificateDraft: ~Copyable {
    private static let serialLength = 16

    private let certificate: Certificate

    /// Version 3 with a random serial number, valid from `notBefore` to `notAfter`, in seconds since 1970.
    init(key: borrowing PrivateKey, notBefore: Int64, notAfter: Int64) throws(CertificateError) {
        ErrorQueue.clear()
        guard let pointer = X509_new() else { throw .library("make a certificate") }
        let certificate = Certificate(owned: pointer)
        // 2 stands for version 3 (RFC 5280, 4.1.2.1).
        try Self.check(X509_set_version(pointer, 2))
        var serial = [UInt8](repeating: 0, count: Self.serialLength)
        try Self.check(RAND_bytes(&serial, Int32(serial.count)))
        // Positive and never shorter than the rest (RFC 5280, 4.1.2.2).
        serial[0] = serial[0] & 0x7F | 0x40
        try Self.check(wiretape_set_serial(pointer, serial, Int32(serial.count)))
        try Self.check(wiretape_set_validity(pointer, notBefore, notAfter))
        try Self.check(X509_set_pubkey(pointer, key.pointer))
        self.certificate = certificate
    }

    /// SHA-256 of the SubjectPublicKeyInfo.
    var publicKeyDigest: [UInt8] { CertificateSummary.publicKeyDigest(self.certificate.pointer) }

    func setCommonName(_ name: String) throws(CertificateError) {
        try Self.check(wiretape_set_common_name(self.certificate.pointer, name, Int32(name.utf8.count)))
    }

    /// Takes the issuer from the subject of `authority`, octet for octet.
    func setIssuer(_ authority: OpaquePointer) throws(CertificateError) {
        try Self.check(wiretape_copy_subject_to_issuer(self.certificate.pointer, authority))
    }

    func setIssuerToSelf() throws(CertificateError) {
        try self.setIssuer(self.certificate.pointer)
    }

    func add(_ item: CertificateExtension) throws(CertificateError) {
        try Self.check(
            wiretape_add_extension(self.certificate.pointer, item.identifier, item.isCritical ? 1 : 0, item.value, Int32(item.value.count))
        )
    }

    consuming func signed(with key: borrowing PrivateKey) throws(CertificateError) -> Certificate {
        ErrorQueue.clear()
        // 0 is failure, else the length of the signature.
        try Self.check(X509_sign(self.certificate.pointer, key.pointer, key.signsWithoutDigest ? nil : EVP_sha256()))
        return self.certificate
    }

    private static func check(_ result: Int32) throws(CertificateError) {
        guard result > 0 else { throw .library("make a certificate") }
    }
}
