internal import COpenSSL
public import TapeBytes

/// Owns certificates in order: a leaf and those that signed it, or a bundle of roots. Does not check that each signed the previous one.
// SAFETY: the certificates are never changed, and OpenSSL locks what it caches in them.
public struct CertificateChain: ~Copyable, @unchecked Sendable {
    let pointers: [OpaquePointer]

    /// Reads certificates until the text ends or `limit` is reached. Skips other blocks, such as keys.
    public init(pem: [UInt8], limit: Int = .max) throws(CertificateError) {
        let bio = try MemoryBIO(pem)
        var pointers: [OpaquePointer] = []
        while pointers.count < limit {
            // Without a callback OpenSSL would ask at the terminal for the password of an encrypted block.
            guard let certificate = PEM_read_bio_X509(bio.pointer, nil, { _, _, _, _ in -1 }, nil) else { break }
            pointers.append(certificate)
        }
        let last = ERR_peek_last_error()
        let reasons = ErrorQueue.drain()
        guard last == 0 || wiretape_is_end_of_pem(last) == 1 else {
            pointers.forEach { X509_free($0) }
            throw CertificateError(
                .damaged, "certificate \(pointers.count + 1) is damaged (\(reasons.last ?? "no reason")); fetch or export the file again"
            )
        }
        self.pointers = pointers
    }

    /// Takes over one reference to each.
    init(owned pointers: [OpaquePointer]) {
        self.pointers = pointers
    }

    init(_ certificate: borrowing Certificate) {
        X509_up_ref(certificate.pointer)
        self.pointers = [certificate.pointer]
    }

    deinit { self.pointers.forEach { X509_free($0) } }

    public var count: Int { self.pointers.count }

    public var summaries: [CertificateSummary] { self.pointers.map { CertificateSummary($0) } }

    /// The certificates in DER form, in order.
    public func der() -> [[UInt8]] { self.pointers.map { Certificate.der($0) } }

    /// Another owner of the same certificates.
    func shared() -> CertificateChain {
        self.pointers.forEach { X509_up_ref($0) }
        return CertificateChain(owned: self.pointers)
    }

    /// The same certificates, with the one at `index` first.
    func movingToFront(_ index: Int) -> CertificateChain {
        var pointers = self.pointers
        pointers.insert(pointers.remove(at: index), at: 0)
        pointers.forEach { X509_up_ref($0) }
        return CertificateChain(owned: pointers)
    }
}

/// Writes trusted certificates as one PKCS#12 file, in the form that Java reads. Never holds a key.
public enum TrustStore {
    /// The content is public and the password known, so a slow MAC would protect nothing.
    private static let iterations: Int32 = 1
    private static let nameLimit = 100

    /// - Parameter certificatesPEM: one or more certificates, as in a system's bundle.
    public static func pkcs12(certificatesPEM: [UInt8], password: String) throws(CertificateError) -> [UInt8] {
        try self.pkcs12(CertificateChain(pem: certificatesPEM), password: password)
    }

    /// Includes each certificate once, under a unique name.
    public static func pkcs12(_ certificates: borrowing CertificateChain, password: String) throws(CertificateError) -> [UInt8] {
        guard certificates.count > 0 else {
            throw CertificateError(.damaged, "no certificate for the trust store; it begins with \"-----BEGIN CERTIFICATE-----\"")
        }
        ErrorQueue.clear()
        guard let bags = wiretape_new_bags() else { throw .library("write a trust store") }
        defer { wiretape_free_bags(bags) }
        var known: Set<[UInt8]> = []
        for pointer in certificates.pointers {
            let summary = CertificateSummary(pointer)
            guard known.insert(summary.fingerprint).inserted else { continue }
            let name = self.name(summary)
            guard wiretape_add_trusted(bags, pointer, name, Int32(name.utf8.count)) == 1 else { throw .library("write a trust store") }
        }
        guard let file = wiretape_seal_bags(bags, password, Int32(password.utf8.count), self.iterations) else {
            throw .library("write a trust store")
        }
        defer { PKCS12_free(file) }
        let count = Int(i2d_PKCS12(file, nil))
        guard count > 0 else { throw .library("write a trust store") }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            var position = buffer.baseAddress
            written = Int(max(0, i2d_PKCS12(file, &position)))
        }
    }

    /// The certificates in a file that Java trusts, in DER form; nil if it is no PKCS#12 file. Those that are encrypted with another password
    /// are left out.
    static func certificates(in file: [UInt8], password: String) -> [[UInt8]]? {
        defer { ErrorQueue.clear() }
        guard let stack = wiretape_trusted_certificates(file, file.count, password, Int32(password.utf8.count)) else { return nil }
        defer { wiretape_certificates_free(stack) }
        return (0..<wiretape_certificates_count(stack)).compactMap { wiretape_certificates_at(stack, $0).map { Certificate.der($0) } }
    }

    /// Java keeps one certificate per name and ignores case, so the name includes the fingerprint.
    private static func name(_ summary: CertificateSummary) -> String {
        let mark = summary.fingerprint.prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return "\(summary.subject.prefix(self.nameLimit)) \(mark)"
    }
}
