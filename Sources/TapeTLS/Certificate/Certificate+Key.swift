internal import COpenSSL

extension Certificate {
    /// The kind and size of the public key for people: `P-256 (EC, 256 bits)`, `RSA, 2048 bits`.
    public var keyDescription: String {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        guard let key = X509_get0_pubkey(self.pointer), let kind = EVP_PKEY_get0_type_name(key) else { return "unknown" }
        let text = "\(String(cString: kind)), \(EVP_PKEY_get_bits(key)) bits"
        guard let group = Self.group(of: key) else { return text }
        return "\(group) (\(text))"
    }

    /// The curve by NIST's name where it has one; nil where keys of this kind lie on none.
    private static func group(of key: OpaquePointer) -> String? {
        var name = [CChar](repeating: 0, count: 80)
        var length = 0
        guard EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1 else { return nil }
        let text = String(decoding: name.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return ["prime256v1": "P-256", "secp384r1": "P-384", "secp521r1": "P-521"][text] ?? text
    }
}
