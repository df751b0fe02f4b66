internal import COpenSSL

/// The parts of a certificate that people and cassettes need, as plain values.
///
/// Certificates are untrusted: texts and lists have limits, and invalid names are omitted. Does not judge the certificate.
public struct CertificateSummary: Sendable, Hashable {
    /// Real certificates have fewer than about 200.
    private static let nameLimit = 1000
    /// RFC 5280, appendix A.1, allows a few hundred bytes for each part of a name.
    private static let textLimit = 4096

    /// SHA-256 of the DER form; empty if OpenSSL cannot compute it.
    public var fingerprint: [UInt8]
    /// SHA-256 of the SubjectPublicKeyInfo (RFC 7469, 2.4); empty if OpenSSL cannot compute it.
    public var publicKeyDigest: [UInt8]
    /// One line in the style of RFC 2253, the most specific part first.
    public var subject: String
    /// Like `subject`.
    public var issuer: String
    /// Seconds since 1970; 0 if the certificate has no readable time.
    public var notBefore: Int64
    /// Seconds since 1970; 0 if the certificate has no readable time.
    public var notAfter: Int64
    /// DNS names as they are and IP addresses as text, from subjectAltName; the first 1,000.
    public var names: [String]
    /// Whether basic constraints and key usage let it sign certificates.
    public var isAuthority: Bool

    public init(
        fingerprint: [UInt8], publicKeyDigest: [UInt8], subject: String, issuer: String, notBefore: Int64, notAfter: Int64,
        names: [String], isAuthority: Bool
    ) {
        self.fingerprint = fingerprint
        self.publicKeyDigest = publicKeyDigest
        self.subject = subject
        self.issuer = issuer
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.names = names
        self.isAuthority = isAuthority
    }

    init(_ certificate: OpaquePointer) {
        ErrorQueue.clear()
        // A malformed certificate leaves errors in the queue, which the next call must not see.
        defer { ErrorQueue.clear() }
        self.fingerprint = Self.digest(Certificate.der(certificate))
        self.publicKeyDigest = Self.publicKeyDigest(certificate)
        self.subject = Self.text(X509_get_subject_name(certificate))
        self.issuer = Self.text(X509_get_issuer_name(certificate))
        self.notBefore = Self.notBefore(certificate)
        self.notAfter = Self.notAfter(certificate)
        self.names = Self.names(certificate)
        // 1: by basic constraints. Other values are guesses about old certificates.
        self.isAuthority = X509_check_ca(certificate) == 1
    }

    static func notBefore(_ certificate: OpaquePointer) -> Int64 {
        var seconds: Int64 = 0
        return wiretape_not_before(certificate, &seconds) == 1 ? seconds : 0
    }

    static func notAfter(_ certificate: OpaquePointer) -> Int64 {
        var seconds: Int64 = 0
        return wiretape_not_after(certificate, &seconds) == 1 ? seconds : 0
    }

    static func publicKeyDigest(_ certificate: OpaquePointer) -> [UInt8] {
        self.digest(self.publicKey(certificate))
    }

    private static func digest(_ bytes: [UInt8]) -> [UInt8] {
        guard !bytes.isEmpty, var digest = SHA256Digest() else { return [] }
        bytes.withUnsafeBytes { digest.update($0) }
        return digest.finalize()
    }

    private static func publicKey(_ certificate: OpaquePointer) -> [UInt8] {
        let key = X509_get_X509_PUBKEY(certificate)
        let count = Int(i2d_X509_PUBKEY(key, nil))
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            var position = buffer.baseAddress
            written = Int(max(0, i2d_X509_PUBKEY(key, &position)))
        }
    }

    private static func text(_ name: OpaquePointer?) -> String {
        guard let name, let bio = try? MemoryBIO(), wiretape_print_name(bio.pointer, name) >= 0 else { return "" }
        let bytes = bio.bytes
        guard bytes.count > Self.textLimit else { return String(decoding: bytes, as: UTF8.self) }
        return String(decoding: bytes.prefix(Self.textLimit), as: UTF8.self) + "..."
    }

    private static func names(_ certificate: OpaquePointer) -> [String] {
        guard let list = wiretape_alternative_names(certificate) else { return [] }
        defer { GENERAL_NAMES_free(list) }
        var names: [String] = []
        for index in 0..<wiretape_name_count(list) where names.count < Self.nameLimit {
            var isAddress: Int32 = 0
            var length: Int32 = 0
            guard let start = wiretape_name_at(list, index, &isAddress, &length) else { continue }
            let bytes = Array(UnsafeBufferPointer(start: start, count: Int(length)))
            if isAddress == 1 {
                if let address = CertificateAddress(bytes) { names.append(address.description) }
            } else if !bytes.isEmpty, bytes.count <= 255, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) {
                names.append(String(decoding: bytes, as: UTF8.self))
            }
        }
        return names
    }
}
