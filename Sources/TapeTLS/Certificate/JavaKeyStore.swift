public import TapeBytes

/// A file of trusted certificates in Java's own format (JKS), which every JVM reads without a password, as it reads its `cacerts`.
///
/// The format has no specification besides the source of OpenJDK (sun.security.provider.JavaKeyStore). Knows no private keys.
public enum JavaKeyStore {
    /// - Parameters:
    ///   - certificatesPEM: one or more certificates, as in a system's bundle.
    ///   - password: of the checksum, which readers with a password compare, and of the other files.
    ///   - others: files whose trusted certificates are in the new one as well: of this format, JCEKS or PKCS#12. Others are left out.
    /// - Throws: if a certificate cannot be read.
    public static func file(certificatesPEM: [UInt8], password: String, others: [[UInt8]] = []) throws(CertificateError) -> [UInt8] {
        let chain = try CertificateChain(pem: certificatesPEM)
        var known: Set<[UInt8]> = []
        let certificates =
            (chain.der() + others.flatMap { self.certificates(in: $0) ?? TrustStore.certificates(in: $0, password: password) ?? [] }).filter
        { known.insert($0).inserted }
        var bytes: [UInt8] = self.mark + self.number(2, 4) + self.number(certificates.count, 4)
        for (index, certificate) in certificates.enumerated() {
            // A trusted certificate has tag 2, an alias and a date, for which nothing cares.
            bytes += self.number(2, 4) + self.text("root-\(index)") + self.number(0, 8)
            bytes += self.text("X.509") + self.number(certificate.count, 4) + certificate
        }
        let salted = password.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } + Array("Mighty Aphrodite".utf8) + bytes
        return bytes + SHA1.digest(of: salted)
    }

    /// The trusted certificates in a file; nil if it is neither of this format nor JCEKS, which has the same entries, is cut off, or has
    /// secret keys.
    static func certificates(in file: [UInt8]) -> [[UInt8]]? {
        var rest = file[...]
        func take(_ count: Int) -> ArraySlice<UInt8>? {
            guard count <= rest.count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
        func takeNumber(_ size: Int) -> Int? { take(size).map { $0.reduce(0) { $0 << 8 | Int($1) } } }
        guard [self.mark, self.otherMark].contains(take(4).map(Array.init)), let version = takeNumber(4), version == 1 || version == 2,
            let count = takeNumber(4)
        else {
            return nil
        }
        var certificates: [[UInt8]] = []
        /// The first version does not name the kind of a certificate, which is X.509.
        func takeCertificate() -> ArraySlice<UInt8>? {
            guard version == 1 || takeNumber(2).flatMap(take).map(Array.init) == Array("X.509".utf8) else { return nil }
            return takeNumber(4).flatMap(take)
        }
        for _ in 0..<count {
            guard let tag = takeNumber(4), let alias = takeNumber(2), take(alias) != nil, take(8) != nil else { return nil }
            switch tag {
            case 2:
                guard let certificate = takeCertificate() else { return nil }
                certificates.append(Array(certificate))
            // A private key with its chain.
            case 1:
                guard takeNumber(4).flatMap(take) != nil, let chain = takeNumber(4) else { return nil }
                for _ in 0..<chain where takeCertificate() == nil { return nil }
            default: return nil
            }
        }
        return certificates
    }

    private static let mark: [UInt8] = [0xFE, 0xED, 0xFE, 0xED]
    /// Of JCEKS.
    private static let otherMark: [UInt8] = [0xCE, 0xCE, 0xCE, 0xCE]

    private static func number(_ value: Int, _ size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func text(_ text: String) -> [UInt8] { self.number(text.utf8.count, 2) + Array(text.utf8) }
}
