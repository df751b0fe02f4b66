internal import COpenSSL

extension TLSFailure {
    /// A peer's alert appears among OpenSSL's reasons under its number (RFC 8446, 6) and 1,000.
    private static let alerts: ClosedRange<Int32> = 1000...1255

    /// Reads the error queue, and empties it.
    ///
    /// - Parameter lacksCertificate: the peer asked for a certificate and got none.
    static func drained(lacksCertificate: Bool = false) -> TLSFailure {
        var failure: TLSFailure?
        var reasons: [String] = []
        while true {
            let code = ERR_get_error()
            guard code != 0 else { break }
            let text = ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)"
            reasons.append(text)
            // The first is where it began; what follows are the callers' remarks. Other libraries have reasons of the same numbers.
            if failure == nil, ERR_GET_LIB(code) == ERR_LIB_SSL { failure = self.reading(ERR_GET_REASON(code), text, lacksCertificate) }
        }
        var result =
            failure
            ?? reasons.first.map { TLSFailure(cause: .malformed, message: "its TLS is not in order (\($0))") }
            ?? TLSFailure(cause: .closed, message: "it closed the connection inside the handshake")
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
                (.noSharedVersion, "there is no TLS version that both sides speak")
            case SSL_R_NO_SHARED_CIPHER, SSL_R_NO_CIPHERS_AVAILABLE, SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM, SSL_R_NO_SUITABLE_GROUPS,
                SSL_R_NO_SUITABLE_KEY_SHARE, SSL_R_NO_SHARED_GROUPS, SSL_R_WRONG_CIPHER_RETURNED:
                (.noSharedCipher, "there is no cipher that both sides speak")
            case SSL_R_NO_APPLICATION_PROTOCOL:
                (.noSharedProtocol, "there is no application protocol that both sides speak")
            case SSL_R_UNEXPECTED_EOF_WHILE_READING:
                (.closed, "it closed the connection inside the handshake")
            case SSL_R_DH_KEY_TOO_SMALL, SSL_R_EE_KEY_TOO_SMALL, SSL_R_CA_KEY_TOO_SMALL, SSL_R_CA_MD_TOO_WEAK:
                (.noSharedCipher, "its keys are too weak for today (\(text))")
            case SSL_R_NO_RENEGOTIATION, SSL_R_UNSAFE_LEGACY_RENEGOTIATION_DISABLED:
                (.malformed, "it wants to renegotiate, which is refused")
            default:
                (.malformed, "its TLS is not in order (\(text))")
            }
        return TLSFailure(cause: cause, message: message)
    }

    /// What the peer had to say (RFC 8446, 6.2).
    private static func alert(_ number: Int32, _ text: String, _ lacksCertificate: Bool) -> TLSFailure {
        let (cause, message): (Cause, String) =
            switch number {
            // TLS 1.2 has no alert of its own for a certificate that did not come.
            case SSL3_AD_HANDSHAKE_FAILURE where lacksCertificate, SSL3_AD_BAD_CERTIFICATE where lacksCertificate:
                (.certificateRequired, "it wants a client certificate")
            case SSL3_AD_HANDSHAKE_FAILURE: (.noSharedCipher, "it found no settings that both sides speak")
            case SSL3_AD_NO_CERTIFICATE, SSL3_AD_BAD_CERTIFICATE, SSL3_AD_UNSUPPORTED_CERTIFICATE, SSL3_AD_CERTIFICATE_REVOKED,
                SSL3_AD_CERTIFICATE_EXPIRED, SSL3_AD_CERTIFICATE_UNKNOWN, TLS1_AD_UNKNOWN_CA, TLS1_AD_ACCESS_DENIED,
                TLS1_AD_BAD_CERTIFICATE_STATUS_RESPONSE, TLS1_AD_BAD_CERTIFICATE_HASH_VALUE:
                (.certificateRejected, "it rejected the certificate")
            case TLS1_AD_PROTOCOL_VERSION: (.noSharedVersion, "there is no TLS version that both sides speak")
            case TLS1_AD_INSUFFICIENT_SECURITY: (.noSharedCipher, "there is no cipher that is strong enough for it")
            case TLS13_AD_CERTIFICATE_REQUIRED: (.certificateRequired, "it wants a client certificate")
            case TLS1_AD_NO_APPLICATION_PROTOCOL: (.noSharedProtocol, "there is no application protocol that both sides speak")
            case TLS1_AD_UNRECOGNIZED_NAME: (.nameMismatch, "it does not know the name it was asked for")
            case TLS1_AD_USER_CANCELLED: (.closed, "it gave up the handshake")
            default: (.other, "it ended the connection with an alert")
            }
        return TLSFailure(cause: cause, message: "\(message) (\(text))")
    }
}
