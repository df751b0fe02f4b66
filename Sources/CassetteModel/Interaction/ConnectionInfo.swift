public import TapeBytes

/// The upstream connection that carried an exchange.
public struct ConnectionInfo: Sendable, Hashable {
    /// Counted from 1 within one recording.
    public var id: Int
    /// The stream of the connection that carried the exchange (RFC 9113, 5.1.1); nil before HTTP/2.
    public var stream: Int?
    /// Address and port of the origin, such as `127.0.0.1:9000` or `[::1]:9000`.
    public var remote: String
    /// Whether an earlier exchange used the same connection.
    public var isReused: Bool
    /// Nil if the connection had no TLS, or the handshake failed before anything was negotiated.
    public var tls: TLSDetails?
    public var unknown: [UnknownMember]

    public init(
        id: Int, stream: Int? = nil, remote: String, isReused: Bool, tls: TLSDetails? = nil, unknown: [UnknownMember] = []
    ) {
        self.id = id
        self.stream = stream
        self.remote = remote
        self.isReused = isReused
        self.tls = tls
        self.unknown = unknown
    }
}

/// The parameters that a TLS handshake with an origin negotiated.
///
/// An immutable class, so that all exchanges of a connection share it.
public final class TLSDetails: Sendable, Hashable {
    /// GnuTLS does not verify longer chains (DEFAULT_MAX_VERIFY_DEPTH), and public ones have two to four certificates.
    public static let mostCertificates = 16

    /// In OpenSSL's spelling: `TLSv1.3`.
    public let version: String
    /// In OpenSSL's spelling: `TLS_AES_256_GCM_SHA384`.
    public let cipher: String
    /// The protocol chosen by ALPN (RFC 7301); nil if none was.
    public let alpn: String?
    /// The server name that was sent (RFC 6066, 3); nil if none was.
    public let sni: String?
    /// Whether an earlier session was resumed; the certificates are then those of the earlier handshake.
    public let isResumed: Bool
    /// The origin's certificates, the leaf first; only with the exchange that opened the connection.
    public let chain: [RecordedCertificate]
    public let unknown: [UnknownMember]
    /// The JSON text of the whole member, if `withoutChain` created it once for many exchanges.
    package let text: [UInt8]?

    /// Keeps only the first `mostCertificates` certificates of a longer chain.
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

/// The data that a cassette keeps of a certificate that an origin sent.
///
/// Does not contain the certificate itself: the digest identifies it.
public struct RecordedCertificate: Sendable, Hashable {
    /// SHA-256 of the certificate's DER, as 64 lower-case hex digits.
    public var sha256: String
    /// Distinguished names on one line, such as `CN=example.com,O=Example`.
    public var subject: String
    public var issuer: String
    public var notBefore: Timestamp
    public var notAfter: Timestamp
    public var unknown: [UnknownMember]

    public init(
        sha256: String, subject: String, issuer: String, notBefore: Timestamp, notAfter: Timestamp, unknown: [UnknownMember] = []
    ) {
        self.sha256 = sha256
        self.subject = subject
        self.issuer = issuer
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.unknown = unknown
    }
}
