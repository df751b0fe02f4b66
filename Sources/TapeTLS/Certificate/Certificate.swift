internal import COpenSSL
public import TapeBytes

/// Owns one X.509 certificate and frees it. Reports its contents, never whether to trust it.
// SAFETY: the certificate is never changed after init, and OpenSSL locks what it caches in it.
public struct Certificate: ~Copyable, @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes over one reference.
    init(owned pointer: OpaquePointer) {
        self.pointer = pointer
    }

    /// Takes its own reference to a certificate that has another owner.
    init(sharing pointer: OpaquePointer) {
        X509_up_ref(pointer)
        self.pointer = pointer
    }

    /// Reads the first certificate of a PEM text.
    public init(pem: [UInt8]) throws(CertificateError) {
        let chain = try CertificateChain(pem: pem, limit: 1)
        guard let first = chain.pointers.first else {
            throw CertificateError(.damaged, "no certificate in PEM form; it begins with \"-----BEGIN CERTIFICATE-----\"")
        }
        self.init(sharing: first)
    }

    /// Reads exactly one certificate.
    public init(der: [UInt8]) throws(CertificateError) {
        ErrorQueue.clear()
        var used = 0
        let certificate = der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var position = bytes.baseAddress
            let certificate = d2i_X509(nil, &position, bytes.count)
            if let start = bytes.baseAddress, let position { used = position - start }
            return certificate
        }
        let reasons = ErrorQueue.drain()
        guard let certificate else {
            throw CertificateError(
                .damaged, "not a certificate in DER form (\(reasons.last ?? "no reason")); inspect it with: openssl x509 -inform der")
        }
        guard used == der.count else {
            X509_free(certificate)
            throw CertificateError(.damaged, "\(der.count - used) bytes follow the certificate in DER form; remove them")
        }
        self.pointer = certificate
    }

    deinit { X509_free(self.pointer) }

    /// All certificates in a PEM text, in order; nil if there are none.
    public static func chain(pem: [UInt8]) throws(CertificateError) -> CertificateChain? {
        let chain = try CertificateChain(pem: pem)
        guard chain.count > 0 else { return nil }
        return consume chain
    }

    public func der() -> [UInt8] {
        Self.der(self.pointer)
    }

    public func pem() -> [UInt8] {
        guard let bio = try? MemoryBIO(), PEM_write_bio_X509(bio.pointer, self.pointer) == 1 else {
            ErrorQueue.clear()
            return []
        }
        return bio.bytes
    }

    public var summary: CertificateSummary { CertificateSummary(self.pointer) }

    /// The hash of the subject as eight hex digits: the file name under which OpenSSL finds a root in a folder (`openssl x509 -hash`).
    public var subjectHash: String {
        ErrorQueue.clear()
        let digits = String(X509_subject_name_hash(self.pointer) & 0xFFFF_FFFF, radix: 16)
        ErrorQueue.clear()
        return String(repeating: "0", count: 8 - digits.utf8.count) + digits
    }

    /// Seconds since 1970. Cheaper than a summary.
    var notBefore: Int64 { CertificateSummary.notBefore(self.pointer) }

    /// Like `notBefore`.
    var notAfter: Int64 { CertificateSummary.notAfter(self.pointer) }

    static func der(_ certificate: OpaquePointer) -> [UInt8] {
        ErrorQueue.clear()
        let count = Int(i2d_X509(certificate, nil))
        guard count > 0 else {
            ErrorQueue.clear()
            return []
        }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            var position = buffer.baseAddress
            written = Int(max(0, i2d_X509(certificate, &position)))
        }
    }

    /// The kind and size of the public key for people: `P-256 (EC, 256 bits)`, `RSA, 2048 bits`.
    public var keyDescription: String {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        guard let key = X509_get0_pubkey(self.pointer), let kind = EVP_PKEY_get0_type_name(key) else { return "unknown" }
        let text = "\(String(cString: kind)), \(EVP_PKEY_get_bits(key)) bits"
        guard let group = Self.group(of: key) else { return text }
        return "\(group) (\(text))"
    }

    /// The curve, by its NIST name if it has one; nil for keys without a curve.
    private static func group(of key: OpaquePointer) -> String? {
        var name = [CChar](repeating: 0, count: 80)
        var length = 0
        guard EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1 else { return nil }
        let text = String(decoding: name.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return ["prime256v1": "P-256", "secp384r1": "P-384", "secp521r1": "P-521"][text] ?? text
    }
}

/// Owns an in-memory BIO, which OpenSSL reads PEM from and writes it to.
struct MemoryBIO: ~Copyable {
    /// Far above the size of any bundle of certificates. OpenSSL counts in `Int32`.
    static let limit = 16 << 20

    let pointer: OpaquePointer

    /// Copies `bytes` into it.
    init(_ bytes: [UInt8] = []) throws(CertificateError) {
        guard bytes.count <= Self.limit else {
            throw CertificateError(.damaged, "\(bytes.count) bytes are too many for certificates or a key; the limit is 16 MiB")
        }
        ErrorQueue.clear()
        guard let pointer = BIO_new(BIO_s_mem()) else { throw .library("allocate memory") }
        guard bytes.isEmpty || BIO_write(pointer, bytes, Int32(bytes.count)) == bytes.count else {
            BIO_free(pointer)
            throw .library("allocate memory")
        }
        self.pointer = pointer
    }

    deinit { BIO_free(self.pointer) }

    /// The bytes that have been written but not read yet.
    var bytes: [UInt8] {
        var start: UnsafeMutablePointer<CChar>?
        let count = wiretape_bio_bytes(self.pointer, &start)
        guard let start, count > 0 else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: count))
    }
}
