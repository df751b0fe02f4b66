internal import COpenSSL

/// A CA certificate with its key: it issues leaf certificates. It reads and writes no files and keeps no list of what it issued.
public struct CertificateAuthority: ~Copyable, Sendable {
    private static let day: Int64 = 86_400
    private static let lifetime = 3650 * Self.day
    /// For clocks that are behind ours.
    private static let margin = 2 * Self.day
    /// Browsers accept 397 days, Apple's systems 825 for roots that people install.
    private static let leafLifetime = 365 * Self.day
    /// ub-common-name of RFC 5280, appendix A.1.
    private static let commonNameLimit = 64

    private let chain: CertificateChain
    private let key: PrivateKey
    public let certificate: CertificateSummary

    /// A new authority with a P-256 key, valid for ten years, without name constraints.
    ///
    /// - Parameter now: seconds since 1970.
    public static func make(now: Int64) throws(CertificateError) -> CertificateAuthority {
        let key = try PrivateKey.makeP256()
        let notBefore = now - Self.margin
        let draft = try CertificateDraft(key: key, notBefore: notBefore, notAfter: notBefore + Self.lifetime)
        let digest = draft.publicKeyDigest
        // The number tells the authorities of several machines apart in a list of trusted ones.
        let number = digest.prefix(4).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        try draft.setCommonName("Wiretape CA \(number)")
        try draft.setIssuerToSelf()
        try draft.add(.authority)
        try draft.add(.signsCertificates)
        try draft.add(.keyIdentifier(digest))
        let certificate = try draft.signed(with: key)
        return try CertificateAuthority(chain: CertificateChain(certificate), key: key, now: now)
    }

    /// - Parameter certificatePEM: the CA certificate, and what signed it where clients know only that.
    public init(certificatePEM: [UInt8], keyPEM: [UInt8], now: Int64) throws(CertificateError) {
        try self.init(chain: CertificateChain(pem: certificatePEM), key: PrivateKey(pem: keyPEM), now: now)
    }

    /// Checks that the key belongs to one of the certificates, and that this one may sign others now.
    init(chain: consuming CertificateChain, key: consuming PrivateKey, now: Int64) throws(CertificateError) {
        guard chain.count > 0 else {
            throw CertificateError(.damaged, "no certificate in PEM form; it begins with \"-----BEGIN CERTIFICATE-----\"")
        }
        ErrorQueue.clear()
        let own = chain.pointers.firstIndex { X509_check_private_key($0, key.pointer) == 1 }
        ErrorQueue.clear()
        guard let own else {
            throw CertificateError(
                .mismatch, "the key is not that of the certificate \"\(chain.summaries[0].subject)\"; give the two that belong together")
        }
        let summary = CertificateSummary(chain.pointers[own])
        guard summary.isAuthority else {
            throw CertificateError(
                .notAuthority,
                "\"\(summary.subject)\" may not sign certificates; give one with basicConstraints CA:TRUE and keyUsage keyCertSign"
            )
        }
        guard summary.notAfter > now else {
            throw CertificateError(.expired, "the authority \"\(summary.subject)\" has expired; make a new one and have it trusted")
        }
        guard summary.notBefore <= now else {
            throw CertificateError(.expired, "the authority \"\(summary.subject)\" is not valid yet; look at this machine's clock")
        }
        self.chain = chain.movingToFront(own)
        self.key = key
        self.certificate = summary
    }

    /// What is sent after a leaf: the CA certificate, then what signed it.
    func issuers() -> CertificateChain { self.chain.shared() }

    public func certificatePEM() -> [UInt8] { self.own().pem() }

    public func certificateDER() -> [UInt8] { self.own().der() }

    /// The certificate without its key, marked as Java's trust stores want it.
    public func certificateP12(password: String) throws(CertificateError) -> [UInt8] {
        try TrustStore.pkcs12(CertificateChain(self.own()), password: password)
    }

    public func keyPEM() throws(CertificateError) -> [UInt8] { try self.key.pem() }

    /// A certificate for a server with `key`, valid for a year at most and never longer than the authority.
    ///
    /// - Parameter now: seconds since 1970.
    public func mint(_ names: LeafNames, key: borrowing PrivateKey, now: Int64) throws(CertificateError) -> Certificate {
        guard let first = names.first else {
            throw CertificateError(.noName, "no host name and no address to issue a certificate for; look at the client's CONNECT request")
        }
        guard self.certificate.notAfter > now else {
            throw CertificateError(
                .expired, "the authority \"\(self.certificate.subject)\" has expired; make a new one and have it trusted")
        }
        let notBefore = now - Self.margin
        let draft = try CertificateDraft(
            key: key, notBefore: notBefore, notAfter: min(notBefore + Self.leafLifetime, self.certificate.notAfter)
        )
        let isNamed = first.utf8.count <= Self.commonNameLimit
        if isNamed { try draft.setCommonName(first) }
        try draft.setIssuer(self.chain.pointers[0])
        try draft.add(.endEntity)
        try draft.add(.signsHandshakes)
        try draft.add(.servesTLS)
        try draft.add(.alternativeNames(names, isCritical: !isNamed))
        try draft.add(.keyIdentifier(draft.publicKeyDigest))
        if let identifier = self.keyIdentifier() { try draft.add(.authorityKeyIdentifier(identifier)) }
        return try draft.signed(with: self.key)
    }

    private func own() -> Certificate { Certificate(sharing: self.chain.pointers[0]) }

    private func keyIdentifier() -> [UInt8]? {
        var count: Int32 = 0
        guard let start = wiretape_key_identifier(self.chain.pointers[0], &count), count > 0 else { return nil }
        return Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }
}
