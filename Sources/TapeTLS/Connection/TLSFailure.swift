internal import COpenSSL
internal import Platform

/// Why a TLS connection failed.
///
/// Names neither the host nor the side, because the caller knows both.
public struct TLSFailure: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Cause: String, Sendable, Hashable, CaseIterable {
        /// The peer closed the connection during the handshake, or without close_notify.
        case closed
        case reset
        /// The peer did not accept this side's certificate.
        case certificateRejected
        case noSharedVersion
        case noSharedCipher
        /// The peers have no application protocol in common (RFC 7301, 3.2).
        case noSharedProtocol
        case expired
        case notYetValid
        case unknownAuthority
        case selfSigned
        case nameMismatch
        case pinMismatch
        /// A custom evaluation refused the certificates.
        case refusedByPolicy
        /// The peer requires a client certificate, but there is none.
        case certificateRequired
        /// The peer sent something other than TLS.
        case notTLS
        case timeout
        /// TLS that violates the protocol.
        case malformed
        case other
    }

    public var cause: Cause
    /// For people, without the host: `the certificate has expired`.
    public var message: String
    /// OpenSSL's reasons, oldest first.
    public var reasons: [String]

    public init(cause: Cause, message: String, reasons: [String] = []) {
        self.cause = cause
        self.message = message
        self.reasons = reasons
    }

    public var description: String { self.message }

    // MARK: Certificates

    /// From an error of certificate verification (X509_V_ERR_…).
    init(verification error: Int32, of certificate: CertificateSummary?) {
        let reason = X509_verify_cert_error_string(Int(error)).map { String(cString: $0) } ?? "error \(error)"
        let (cause, message) = Self.words(error, certificate)
        self.init(cause: cause, message: message ?? "its certificate was refused (\(reason))", reasons: [reason])
    }

    private static func words(_ error: Int32, _ certificate: CertificateSummary?) -> (Cause, String?) {
        let subject = certificate.map { "\"\($0.subject)\"" } ?? "of its chain"
        switch error {
        case X509_V_ERR_CERT_HAS_EXPIRED:
            return (.expired, "the certificate \(subject) expired on \(self.day(certificate?.notAfter))")
        case X509_V_ERR_CERT_NOT_YET_VALID:
            return (.notYetValid, "the certificate \(subject) is not valid before \(self.day(certificate?.notBefore))")
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
            return (.selfSigned, "the certificate \(subject) is self-signed")
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
            return (.unknownAuthority, "the authority \(subject) is not trusted")
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            let issuer = certificate.map { "\"\($0.issuer)\"" } ?? "that signed its certificate"
            return (.unknownAuthority, "the authority \(issuer) is unknown, or the server does not send its certificate")
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
            return (.nameMismatch, self.mismatch(certificate))
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL, X509_V_ERR_CA_MD_TOO_WEAK:
            return (.other, "the certificate \(subject) has a key or signature that is too weak")
        default:
            return (.other, nil)
        }
    }

    /// Shows only the first few names, because a certificate can have hundreds.
    private static func mismatch(_ certificate: CertificateSummary?) -> String {
        guard let certificate, !certificate.names.isEmpty else {
            let subject = certificate.map { ", and it has only the subject \"\($0.subject)\"" } ?? ""
            return "the certificate names no host: subjectAltName is what counts (RFC 9525)\(subject)"
        }
        let shown = certificate.names.prefix(3).map { "\"\($0)\"" }.joined(separator: ", ")
        return "the certificate is for \(shown)\(certificate.names.count > 3 ? " and \(certificate.names.count - 3) more" : "")"
    }

    /// The day in UTC.
    private static func day(_ seconds: Int64?) -> String {
        // The end of the range that certificates can express (RFC 5280, 4.1.2.5).
        guard let seconds, (0...253_402_300_799).contains(seconds) else { return "an unreadable date" }
        var time = time_t(seconds)
        var parts = tm()
        gmtime_r(&time, &parts)
        let (year, month, day) = (parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday)
        return "\(year)-\(month < 10 ? "0" : "")\(month)-\(day < 10 ? "0" : "")\(day)"
    }

    // MARK: OpenSSL's error queue

    /// OpenSSL reports a peer's alert as a reason: the alert number (RFC 8446, 6) plus 1,000.
    private static let alerts: ClosedRange<Int32> = 1000...1255

    /// Empties the error queue and turns it into a failure.
    ///
    /// - Parameter lacksCertificate: the peer asked for a certificate but got none.
    static func drained(lacksCertificate: Bool = false) -> TLSFailure {
        var failure: TLSFailure?
        var reasons: [String] = []
        while true {
            let code = ERR_get_error()
            guard code != 0 else { break }
            let text = ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)"
            reasons.append(text)
            // The first error is the cause, and its callers' errors follow. Other libraries use the same numbers for different reasons.
            if failure == nil, ERR_GET_LIB(code) == ERR_LIB_SSL { failure = self.reading(ERR_GET_REASON(code), text, lacksCertificate) }
        }
        var result =
            failure
            ?? reasons.first.map { TLSFailure(cause: .malformed, message: "it violated the TLS protocol (\($0))") }
            ?? TLSFailure(cause: .closed, message: "it closed the connection during the handshake")
        result.reasons = reasons
        return result
    }

    private static func reading(_ reason: Int32, _ text: String, _ lacksCertificate: Bool) -> TLSFailure {
        if self.alerts.contains(reason) { return self.alert(reason - self.alerts.lowerBound, text, lacksCertificate) }
        let (cause, message): (Cause, String) =
            switch reason {
            case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST, SSL_R_PACKET_LENGTH_TOO_LONG,
                SSL_R_RECORD_LENGTH_MISMATCH:
                (.notTLS, "what it sent is not TLS")
            case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_NO_PROTOCOLS_AVAILABLE, SSL_R_UNKNOWN_PROTOCOL, SSL_R_WRONG_SSL_VERSION,
                SSL_R_VERSION_TOO_LOW, SSL_R_VERSION_TOO_HIGH, SSL_R_INAPPROPRIATE_FALLBACK:
                (.noSharedVersion, "there is no TLS version that both sides support")
            case SSL_R_NO_SHARED_CIPHER, SSL_R_NO_CIPHERS_AVAILABLE, SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM, SSL_R_NO_SUITABLE_GROUPS,
                SSL_R_NO_SUITABLE_KEY_SHARE, SSL_R_NO_SHARED_GROUPS, SSL_R_WRONG_CIPHER_RETURNED:
                (.noSharedCipher, "there is no cipher that both sides support")
            case SSL_R_NO_APPLICATION_PROTOCOL:
                (.noSharedProtocol, "there is no application protocol that both sides support")
            case SSL_R_UNEXPECTED_EOF_WHILE_READING:
                (.closed, "it closed the connection during the handshake")
            case SSL_R_DH_KEY_TOO_SMALL, SSL_R_EE_KEY_TOO_SMALL, SSL_R_CA_KEY_TOO_SMALL, SSL_R_CA_MD_TOO_WEAK:
                (.noSharedCipher, "its keys are too weak (\(text))")
            case SSL_R_NO_RENEGOTIATION, SSL_R_UNSAFE_LEGACY_RENEGOTIATION_DISABLED:
                (.malformed, "it tried to renegotiate, which is not supported")
            default:
                (.malformed, "it violated the TLS protocol (\(text))")
            }
        return TLSFailure(cause: cause, message: message)
    }

    /// From the peer's alert (RFC 8446, 6.2).
    private static func alert(_ number: Int32, _ text: String, _ lacksCertificate: Bool) -> TLSFailure {
        let (cause, message): (Cause, String) =
            switch number {
            // TLS 1.2 has no specific alert for a missing certificate.
            case SSL3_AD_HANDSHAKE_FAILURE where lacksCertificate, SSL3_AD_BAD_CERTIFICATE where lacksCertificate:
                (.certificateRequired, "it requires a client certificate")
            case SSL3_AD_HANDSHAKE_FAILURE: (.noSharedCipher, "it found no settings that both sides support")
            case SSL3_AD_NO_CERTIFICATE, SSL3_AD_BAD_CERTIFICATE, SSL3_AD_UNSUPPORTED_CERTIFICATE, SSL3_AD_CERTIFICATE_REVOKED,
                SSL3_AD_CERTIFICATE_EXPIRED, SSL3_AD_CERTIFICATE_UNKNOWN, TLS1_AD_UNKNOWN_CA, TLS1_AD_ACCESS_DENIED,
                TLS1_AD_BAD_CERTIFICATE_STATUS_RESPONSE, TLS1_AD_BAD_CERTIFICATE_HASH_VALUE:
                (.certificateRejected, "it rejected the certificate")
            case TLS1_AD_PROTOCOL_VERSION: (.noSharedVersion, "there is no TLS version that both sides support")
            case TLS1_AD_INSUFFICIENT_SECURITY: (.noSharedCipher, "there is no cipher that is strong enough for it")
            case TLS13_AD_CERTIFICATE_REQUIRED: (.certificateRequired, "it requires a client certificate")
            case TLS1_AD_NO_APPLICATION_PROTOCOL: (.noSharedProtocol, "there is no application protocol that both sides support")
            case TLS1_AD_UNRECOGNIZED_NAME: (.nameMismatch, "it does not know the name it was asked for")
            case TLS1_AD_USER_CANCELLED: (.closed, "it canceled the handshake")
            default: (.other, "it ended the connection with an alert")
            }
        return TLSFailure(cause: cause, message: "\(message) (\(text))")
    }
}
