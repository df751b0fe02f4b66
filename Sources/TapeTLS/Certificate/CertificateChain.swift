internal import COpenSSL
public import TapeBytes

/// Owns certificates in an order: a leaf and what signed it, or a bundle of roots. It does not check that they follow from each other.
// SAFETY: the certificates are never changed; what OpenSSL caches in them is locked there.
public struct CertificateChain: ~Copyable, @unchecked Sendable {
    let pointers: [OpaquePointer]

    /// Reads certificates until the text ends or `limit` is reached; other blocks, such as keys, are passed over.
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

    /// Takes over one reference of each.
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

    /// The certificates in DER form, in their order.
    public func der() -> [[UInt8]] { self.pointers.map { Certificate.der($0) } }

    /// A second owner of the same certificates.
    func shared() -> CertificateChain {
        self.pointers.forEach { X509_up_ref($0) }
        return CertificateChain(owned: self.pointers)
    }

    /// The same certificates, with the one at `index` before the others.
    func movingToFront(_ index: Int) -> CertificateChain {
        var pointers = self.pointers
        pointers.insert(pointers.remove(at: index), at: 0)
        pointers.forEach { X509_up_ref($0) }
        return CertificateChain(owned: pointers)
    }
}
