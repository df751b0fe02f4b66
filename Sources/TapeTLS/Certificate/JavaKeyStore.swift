public import TapeBytes

/// A file of trusted certificates in Java's own format (JKS), which every JVM reads without a password, as it reads its `cacerts`.
///
/// The format has no specification besides the source of OpenJDK (sun.security.provider.JavaKeyStore). Knows no private keys.
public enum JavaKeyStore {
    /// - Parameters:
    ///   - certificatesPEM: one or more certificates, as in a system's bundle.
    ///   - password: of the checksum, which readers with a password compare.
    /// - Throws: if a certificate cannot be read.
    public static func file(certificatesPEM: [UInt8], password: String) throws(CertificateError) -> [UInt8] {
        let chain = try CertificateChain(pem: certificatesPEM)
        var known: Set<[UInt8]> = []
        let certificates = chain.der().filter { known.insert($0).inserted }
        var bytes: [UInt8] = [0xFE, 0xED, 0xFE, 0xED] + self.number(2, 4) + self.number(certificates.count, 4)
        for (index, certificate) in certificates.enumerated() {
            // A trusted certificate has tag 2, an alias and a date, for which nothing cares.
            bytes += self.number(2, 4) + self.text("root-\(index)") + self.number(0, 8)
            bytes += self.text("X.509") + self.number(certificate.count, 4) + certificate
        }
        let salted = password.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } + Array("Mighty Aphrodite".utf8) + bytes
        return bytes + SHA1.digest(of: salted)
    }

    private static func number(_ value: Int, _ size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func text(_ text: String) -> [UInt8] { self.number(text.utf8.count, 2) + Array(text.utf8) }
}
