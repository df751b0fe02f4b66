internal import COpenSSL
public import TapeBytes

/// Writes certificates that are to be trusted as one PKCS#12 file, in the form that Java reads. It never holds a key.
public enum TrustStore {
    /// The content is public and the password known: a MAC that is slow to make would protect nothing.
    private static let iterations: Int32 = 1
    private static let nameLimit = 100

    /// - Parameter certificatesPEM: any number of certificates, as in a system's bundle.
    public static func pkcs12(certificatesPEM: [UInt8], password: String) throws(CertificateError) -> [UInt8] {
        try self.pkcs12(CertificateChain(pem: certificatesPEM), password: password)
    }

    /// Each certificate once, under a name of its own.
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

    /// Java keeps one certificate for each name and does not tell upper from lower case: hence the fingerprint.
    private static func name(_ summary: CertificateSummary) -> String {
        let mark = summary.fingerprint.prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return "\(summary.subject.prefix(self.nameLimit)) \(mark)"
    }
}
