public import TapeBytes

/// What a cassette keeps of one certificate that an origin sent.
///
/// Holds no certificate: its digest tells whether it is one that somebody has.
public struct RecordedCertificate: Sendable, Hashable {
    /// SHA-256 of the certificate's DER, as 64 lower-case hex digits.
    public var sha256: String
    /// Distinguished names on one line, as `CN=example.com,O=Example`.
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
