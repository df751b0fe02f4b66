internal import COpenSSL
public import TapeBytes

/// A CA certificate with its key. Issues leaf certificates.
///
/// Does not read or write files, and keeps no list of issued certificates.
public struct CertificateAuthority: ~Copyable, Sendable {
    private static let day: Int64 = 86_400
    private static let lifetime = 3650 * Self.day
    /// For clients whose clocks are slow.
    private static let margin = 2 * Self.day
    /// Browsers accept 397 days, and Apple's systems 825 for roots installed by people.
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
        // The number distinguishes the authorities of several machines in a list of trusted ones.
        let number = digest.prefix(4).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        try draft.setCommonName("Wiretape CA \(number)")
        try draft.setIssuerToSelf()
        try draft.add(.authority)
        try draft.add(.signsCertificates)
        try draft.add(.keyIdentifier(digest))
        let certificate = try draft.signed(with: key)
        return try CertificateAuthority(chain: CertificateChain(certificate), key: key, now: now)
    }

    /// - Parameter certificatePEM: the CA certificate, and those that signed it if clients trust only those.
    public init(certificatePEM: [UInt8], keyPEM: [UInt8], now: Int64) throws(CertificateError) {
        try self.init(chain: CertificateChain(pem: certificatePEM), key: PrivateKey(pem: keyPEM), now: now)
    }

    private init(chain: consuming CertificateChain, key: consuming PrivateKey, certificate: CertificateSummary) {
        self.chain = chain
        self.key = key
        self.certificate = certificate
    }

    /// Another owner of the same certificates and key.
    public func shared() -> CertificateAuthority {
        CertificateAuthority(chain: self.chain.shared(), key: self.key.shared(), certificate: self.certificate)
    }

    /// Checks that the key belongs to one of the certificates, and that this certificate can sign others now.
    init(chain: consuming CertificateChain, key: consuming PrivateKey, now: Int64) throws(CertificateError) {
        guard chain.count > 0 else {
            throw CertificateError(.damaged, "no certificate in PEM form; it begins with \"-----BEGIN CERTIFICATE-----\"")
        }
        ErrorQueue.clear()
        let own = chain.pointers.firstIndex { X509_check_private_key($0, key.pointer) == 1 }
        ErrorQueue.clear()
        guard let own else {
            throw CertificateError(
                .mismatch, "the key does not belong to the certificate \"\(chain.summaries[0].subject)\"; use a certificate and its key")
        }
        let summary = CertificateSummary(chain.pointers[own])
        guard summary.isAuthority else {
            throw CertificateError(
                .notAuthority,
                "\"\(summary.subject)\" cannot sign certificates; use one with basicConstraints CA:TRUE and keyUsage keyCertSign"
            )
        }
        guard summary.notAfter > now else {
            throw CertificateError(.expired, "the authority \"\(summary.subject)\" has expired; create a new one and trust it")
        }
        guard summary.notBefore <= now else {
            throw CertificateError(.expired, "the authority \"\(summary.subject)\" is not valid yet; check this machine's clock")
        }
        self.chain = chain.movingToFront(own)
        self.key = key
        self.certificate = summary
    }

    /// The certificates to send after a leaf: the CA certificate, then those that signed it.
    func issuers() -> CertificateChain { self.chain.shared() }

    public func certificatePEM() -> [UInt8] { self.own().pem() }

    public func certificateDER() -> [UInt8] { self.own().der() }

    /// The certificate without its key, in the form of Java's trust stores.
    public func certificateP12(password: String) throws(CertificateError) -> [UInt8] {
        try TrustStore.pkcs12(CertificateChain(self.own()), password: password)
    }

    public func keyPEM() throws(CertificateError) -> [UInt8] { try self.key.pem() }

    /// Whether leaves that it signs are valid at `time`, in seconds since 1970.
    public func signs(at time: Int64) -> Bool {
        self.certificate.notBefore <= time - Self.margin && self.certificate.notAfter > time + Self.margin
    }

    /// The certificate with an earlier beginning, and everything else as it is: for clients whose clocks are in the past. Clients that trust
    /// it accept leaves signed by this authority, since name and key are the same. Each call signs anew.
    ///
    /// Throws if the certificate is not signed with its own key, so that it cannot be signed again.
    ///
    /// - Parameter notBefore: seconds since 1970. The end stays, unless it would come before ten years later.
    public func certificatePEM(validFrom notBefore: Int64) throws(CertificateError) -> [UInt8] {
        guard X509_self_signed(self.chain.pointers[0], 0) == 1 else {
            throw CertificateError(
                .notAuthority,
                "the authority \"\(self.certificate.subject)\" is signed by another, so it cannot be made valid earlier; use a root")
        }
        let draft = try CertificateDraft(
            copying: self.chain.pointers[0], notBefore: notBefore,
            notAfter: max(self.certificate.notAfter, notBefore + Self.lifetime))
        return try draft.signed(with: self.key).pem()
    }

    /// A certificate for a server with `key`, valid for at most a year and never longer than the authority.
    ///
    /// - Parameter now: seconds since 1970.
    public func mint(_ names: LeafNames, key: borrowing PrivateKey, now: Int64) throws(CertificateError) -> Certificate {
        guard let first = names.first else {
            throw CertificateError(.noName, "no host name and no address to issue a certificate for; check the client's CONNECT request")
        }
        guard self.certificate.notAfter > now else {
            throw CertificateError(
                .expired, "the authority \"\(self.certificate.subject)\" has expired; create a new one and trust it")
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

/// An authority that is loaded once and used in several places.
public final class LoadedAuthority: Sendable {
    public let authority: CertificateAuthority

    public init(_ authority: consuming CertificateAuthority) { self.authority = authority }
}

/// A certificate that is being written. Signing ends the draft. Knows the form, but not what belongs in a certificate.
struct CertificateDraft: ~Copyable {
    private static let serialLength = 16

    private let certificate: Certificate

    /// Version 3 with a random serial number, valid from `notBefore` to `notAfter`, in seconds since 1970.
    init(key: borrowing PrivateKey, notBefore: Int64, notAfter: Int64) throws(CertificateError) {
        ErrorQueue.clear()
        guard let pointer = X509_new() else { throw .library("make a certificate") }
        let certificate = Certificate(owned: pointer)
        // 2 means version 3 (RFC 5280, 4.1.2.1).
        try Self.check(X509_set_version(pointer, 2))
        try Self.setSerial(pointer)
        try Self.check(wiretape_set_validity(pointer, notBefore, notAfter))
        try Self.check(X509_set_pubkey(pointer, key.pointer))
        self.certificate = certificate
    }

    /// A copy with a new serial number, valid from `notBefore` to `notAfter`, in seconds since 1970.
    init(copying certificate: OpaquePointer, notBefore: Int64, notAfter: Int64) throws(CertificateError) {
        ErrorQueue.clear()
        guard let pointer = X509_dup(certificate) else { throw .library("copy a certificate") }
        let copy = Certificate(owned: pointer)
        try Self.setSerial(pointer)
        try Self.check(wiretape_set_validity(pointer, notBefore, notAfter))
        self.certificate = copy
    }

    private static func setSerial(_ pointer: OpaquePointer) throws(CertificateError) {
        var serial = [UInt8](repeating: 0, count: Self.serialLength)
        try Self.check(RAND_bytes(&serial, Int32(serial.count)))
        // Positive, and always of the same length (RFC 5280, 4.1.2.2).
        serial[0] = serial[0] & 0x7F | 0x40
        try Self.check(wiretape_set_serial(pointer, serial, Int32(serial.count)))
    }

    /// SHA-256 of the SubjectPublicKeyInfo.
    var publicKeyDigest: [UInt8] { CertificateSummary.publicKeyDigest(self.certificate.pointer) }

    func setCommonName(_ name: String) throws(CertificateError) {
        try Self.check(wiretape_set_common_name(self.certificate.pointer, name, Int32(name.utf8.count)))
    }

    /// Copies the subject of `authority` byte for byte: clients compare the two.
    func setIssuer(_ authority: OpaquePointer) throws(CertificateError) {
        try Self.check(wiretape_copy_subject_to_issuer(self.certificate.pointer, authority))
    }

    func setIssuerToSelf() throws(CertificateError) {
        try self.setIssuer(self.certificate.pointer)
    }

    func add(_ item: CertificateExtension) throws(CertificateError) {
        try Self.check(
            wiretape_add_extension(self.certificate.pointer, item.identifier, item.isCritical ? 1 : 0, item.value, Int32(item.value.count))
        )
    }

    consuming func signed(with key: borrowing PrivateKey) throws(CertificateError) -> Certificate {
        ErrorQueue.clear()
        // 0 is a failure; any other result is the length of the signature.
        try Self.check(X509_sign(self.certificate.pointer, key.pointer, key.signsWithoutDigest ? nil : EVP_sha256()))
        return self.certificate
    }

    private static func check(_ result: Int32) throws(CertificateError) {
        guard result > 0 else { throw .library("make a certificate") }
    }
}

/// An extension that an authority writes into a certificate (RFC 5280, 4.2), in DER form.
struct CertificateExtension: Hashable, Sendable {
    let identifier: Int32
    let isCritical: Bool
    let value: [UInt8]

    /// Can sign other certificates, to any depth.
    static let authority = Self(
        identifier: NID_basic_constraints, isCritical: true, value: DER.element(DER.sequence, [0x01, 0x01, 0xFF])
    )
    /// Can sign no certificates: an empty sequence, since false is the default and DER omits defaults.
    static let endEntity = Self(identifier: NID_basic_constraints, isCritical: true, value: DER.element(DER.sequence, []))
    /// keyCertSign and cRLSign.
    static let signsCertificates = Self(identifier: NID_key_usage, isCritical: true, value: DER.bits([5, 6]))
    /// digitalSignature, which is all that a key needs if the key exchange is ephemeral.
    static let signsHandshakes = Self(identifier: NID_key_usage, isCritical: true, value: DER.bits([0]))
    /// id-kp-serverAuth, 1.3.6.1.5.5.7.3.1.
    static let servesTLS = Self(
        identifier: NID_ext_key_usage, isCritical: false,
        value: DER.element(DER.sequence, DER.element(0x06, [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01]))
    )

    /// Any unique value is valid (RFC 7093, 2); this is the first 160 bits of a digest of the public key.
    static func keyIdentifier(_ publicKeyDigest: [UInt8]) -> Self {
        Self(identifier: NID_subject_key_identifier, isCritical: false, value: DER.element(0x04, Array(publicKeyDigest.prefix(20))))
    }

    /// The key identifier as in the authority's certificate.
    static func authorityKeyIdentifier(_ identifier: [UInt8]) -> Self {
        Self(
            identifier: NID_authority_key_identifier, isCritical: false,
            value: DER.element(DER.sequence, DER.element(0x80, identifier))
        )
    }

    /// Critical if the subject is empty (RFC 5280, 4.2.1.6).
    static func alternativeNames(_ names: LeafNames, isCritical: Bool) -> Self {
        var content: [UInt8] = []
        for name in names.dnsNames { content += DER.element(0x82, Array(name.utf8)) }
        for address in names.addresses { content += DER.element(0x87, address) }
        return Self(identifier: NID_subject_alt_name, isCritical: isCritical, value: DER.element(DER.sequence, content))
    }
}

/// Writes the few DER forms that extensions need.
enum DER {
    static let sequence: UInt8 = 0x30

    /// Tag, length and content (X.690, 8.1 and 10.1).
    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var element = [tag]
        element.reserveCapacity(content.count + 6)
        if content.count < 0x80 {
            element.append(UInt8(content.count))
        } else {
            let length = withUnsafeBytes(of: UInt64(content.count).bigEndian) { Array($0.drop { $0 == 0 }) }
            element.append(0x80 | UInt8(length.count))
            element += length
        }
        element += content
        return element
    }

    /// Bit 0 is the first bit of the string. Unset bits at the end are omitted (X.690, 11.2.2).
    static func bits(_ numbers: [Int]) -> [UInt8] {
        guard let last = numbers.max() else { return [0x03, 0x01, 0x00] }
        var string = [UInt8](repeating: 0, count: last / 8 + 1)
        for number in numbers { string[number / 8] |= 0x80 >> UInt8(number % 8) }
        return self.element(0x03, [UInt8(7 - last % 8)] + string)
    }
}
