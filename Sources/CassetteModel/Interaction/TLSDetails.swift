public import TapeBytes

/// What was agreed with an origin in a TLS handshake.
///
/// A reference to values that never change, so that the exchanges of one connection share it.
public final class TLSDetails: Sendable, Hashable {
    /// GnuTLS does not verify longer chains either (DEFAULT_MAX_VERIFY_DEPTH), and public ones have two to four certificates.
    public static let mostCertificates = 16

    /// As OpenSSL names it: `TLSv1.3`.
    public let version: String
    /// As OpenSSL names it: `TLS_AES_256_GCM_SHA384`.
    public let cipher: String
    /// The protocol chosen by ALPN (RFC 7301); nil where none was.
    public let alpn: String?
    /// The server name that was asked for (RFC 6066, 3); nil where none was.
    public let sni: String?
    /// Whether an earlier session was taken up again, in which case the certificates are those of the earlier handshake.
    public let isResumed: Bool
    /// The origin's certificates, the leaf first; only with the exchange that opened the connection.
    public let chain: [RecordedCertificate]
    public let unknown: [UnknownMember]
    /// The text of the whole member, where `withoutChain` made it once for many exchanges.
    package let text: [UInt8]?

    /// Keeps the first certificates of a chain that has more than `mostCertificates`.
    public convenience init(
        version: String, cipher: String, alpn: String? = nil, sni: String? = nil, isResumed: Bool = false,
        chain: [RecordedCertificate] = [], unknown: [UnknownMember] = []
    ) {
        self.init(
            version: version, cipher: cipher, alpn: alpn, sni: sni, isResumed: isResumed, chain: Array(chain.prefix(Self.mostCertificates)),
            unknown: unknown, text: nil)
    }

    package init(
        version: String, cipher: String, alpn: String?, sni: String?, isResumed: Bool, chain: [RecordedCertificate],
        unknown: [UnknownMember], text: [UInt8]?
    ) {
        self.version = version
        self.cipher = cipher
        self.alpn = alpn
        self.sni = sni
        self.isResumed = isResumed
        self.chain = chain
        self.unknown = unknown
        self.text = text
    }

    public static func == (left: TLSDetails, right: TLSDetails) -> Bool {
        left === right
            || left.version == right.version && left.cipher == right.cipher && left.alpn == right.alpn && left.sni == right.sni
                && left.isResumed == right.isResumed && left.chain == right.chain && left.unknown == right.unknown
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.version)
        hasher.combine(self.cipher)
        hasher.combine(self.alpn)
        hasher.combine(self.sni)
        hasher.combine(self.isResumed)
        hasher.combine(self.chain)
        hasher.combine(self.unknown)
    }
}
