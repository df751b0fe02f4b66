internal import COpenSSL
public import TapeBytes

/// Owns a private key and frees it. Never prompts for a password, and has no description.
// SAFETY: the key is never changed after init, and OpenSSL counts its references atomically.
public struct PrivateKey: ~Copyable, @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes over one reference.
    private init(owned pointer: OpaquePointer) {
        self.pointer = pointer
    }

    /// Reads the first key in a PEM text: PKCS#8, or the older forms for RSA or EC.
    public init(pem: [UInt8]) throws(CertificateError) {
        let bio = try MemoryBIO(pem)
        var isEncrypted = false
        let key = withUnsafeMutablePointer(to: &isEncrypted) { flag in
            PEM_read_bio_PrivateKey(
                bio.pointer, nil,
                { _, _, _, flag in
                    // Without a callback OpenSSL would prompt at the terminal.
                    flag?.assumingMemoryBound(to: Bool.self).pointee = true
                    return -1
                }, flag
            )
        }
        let reasons = ErrorQueue.drain()
        guard let key else {
            if isEncrypted {
                throw CertificateError(
                    .encrypted, "the key is encrypted; write it without a password: openssl pkey -in KEY.pem -out PLAIN.pem"
                )
            }
            throw CertificateError(
                .damaged, "not a private key in PEM form (\(reasons.last ?? "no reason")); it begins with \"-----BEGIN PRIVATE KEY-----\""
            )
        }
        self.pointer = key
    }

    deinit { EVP_PKEY_free(self.pointer) }

    /// A new key on the curve P-256, which every client supports and which signs in about 20 µs.
    public static func makeP256() throws(CertificateError) -> PrivateKey {
        ErrorQueue.clear()
        guard let key = wiretape_make_p256() else { throw .library("make a P-256 key") }
        return PrivateKey(owned: key)
    }

    /// PKCS#8, unencrypted: for a file that only its owner can read.
    public func pem() throws(CertificateError) -> [UInt8] {
        let bio = try MemoryBIO()
        guard PEM_write_bio_PKCS8PrivateKey(bio.pointer, self.pointer, nil, nil, 0, nil, nil) == 1 else {
            throw .library("write a key")
        }
        return bio.bytes
    }

    /// Ed25519 and Ed448 compute their own digest (RFC 8410).
    var signsWithoutDigest: Bool {
        EVP_PKEY_is_a(self.pointer, "ED25519") == 1 || EVP_PKEY_is_a(self.pointer, "ED448") == 1
    }

    /// Another owner of the same key.
    func shared() -> PrivateKey {
        EVP_PKEY_up_ref(self.pointer)
        return PrivateKey(owned: self.pointer)
    }
}
