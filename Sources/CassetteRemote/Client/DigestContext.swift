internal import COpenSSL
internal import TapeBytes

/// A digest by OpenSSL, piece by piece.
final class DigestContext {
    private let context: OpaquePointer

    private init?(_ algorithm: OpaquePointer?) {
        guard let algorithm, let context = EVP_MD_CTX_new() else { return nil }
        guard EVP_DigestInit_ex(context, algorithm, nil) == 1 else {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
            return nil
        }
        self.context = context
    }

    /// Nil if OpenSSL has no SHA-256.
    static func sha256() -> DigestContext? { DigestContext(EVP_sha256()) }

    /// Nil if a policy, such as FIPS, forbids MD5. It only protects an upload against accidents.
    static func md5() -> DigestContext? { DigestContext(EVP_md5()) }

    deinit { EVP_MD_CTX_free(self.context) }

    func update(_ bytes: UnsafeRawBufferPointer) {
        // Fails only on a context that was never initialised.
        _ = EVP_DigestUpdate(self.context, bytes.baseAddress, bytes.count)
    }

    /// The digest. Do not call `update` after it.
    func finalize() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        guard EVP_DigestFinal_ex(self.context, &digest, &length) == 1 else { return [] }
        return Array(digest.prefix(Int(length)))
    }
}

/// SHA-256 of bytes in memory, and HMAC with it.
enum MemoryDigest {
    static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        guard let digest = DigestContext.sha256() else {
            var portable = PortableSHA256()
            bytes.withUnsafeBytes { portable.update($0) }
            return portable.finalize()
        }
        bytes.withUnsafeBytes { digest.update($0) }
        return digest.finalize()
    }

    static func hex(_ bytes: [UInt8]) -> String { Hex.encode(self.sha256(bytes)) }

    /// HMAC-SHA-256 (RFC 2104); empty if OpenSSL does not provide it, which no server accepts as a signature.
    static func hmac(_ text: String, key: [UInt8]) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        let bytes = Array(text.utf8)
        guard HMAC(EVP_sha256(), key, Int32(key.count), bytes, bytes.count, &result, &length) != nil else {
            ERR_clear_error()
            return []
        }
        return Array(result.prefix(Int(length)))
    }
}
