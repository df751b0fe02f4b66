/// Why a TLS connection could not be made or went wrong.
///
/// Says neither which host nor which leg: the caller knows.
public struct TLSFailure: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Cause: String, Sendable, Hashable, CaseIterable {
        /// The peer closed the connection inside the handshake, or without close_notify.
        case closed
        case reset
        /// The peer did not accept our certificate.
        case certificateRejected
        case noSharedVersion
        case noSharedCipher
        /// The peer speaks no application protocol that we speak (RFC 7301, 3.2).
        case noSharedProtocol
        case expired
        case notYetValid
        case unknownAuthority
        case selfSigned
        case nameMismatch
        case pinMismatch
        /// A custom evaluation said no.
        case refusedByPolicy
        /// The peer wants a certificate of ours, and we have none for it.
        case certificateRequired
        /// What came is not TLS.
        case notTLS
        case timeout
        /// TLS, but against its rules.
        case malformed
        case other
    }

    public var cause: Cause
    /// In plain words, without the host: `the certificate has expired`.
    public var message: String
    /// OpenSSL's own reasons, oldest first.
    public var reasons: [String]

    public init(cause: Cause, message: String, reasons: [String] = []) {
        self.cause = cause
        self.message = message
        self.reasons = reasons
    }

    public var description: String { self.message }
}
