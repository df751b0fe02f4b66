internal import COpenSSL

extension TLSFailure {
    /// What a verification's error (X509_V_ERR_…) says.
    init(verification error: Int32) {
        let reason = X509_verify_cert_error_string(Int(error)).map { String(cString: $0) } ?? "error \(error)"
        let (cause, message) = Self.words(error)
        self.init(cause: cause, message: message ?? "its certificate was refused: \(reason)", reasons: [reason])
    }

    private static func words(_ error: Int32) -> (Cause, String?) {
        switch error {
        case X509_V_ERR_CERT_HAS_EXPIRED: (.expired, "its certificate has expired")
        case X509_V_ERR_CERT_NOT_YET_VALID: (.notYetValid, "its certificate is not valid yet")
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: (.selfSigned, "its certificate is self-signed")
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            (.unknownAuthority, "its certificate is from an unknown authority, or an intermediate certificate is missing")
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
            (.nameMismatch, "its certificate is for another name")
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL, X509_V_ERR_CA_MD_TOO_WEAK:
            (.other, "its certificates are too weak for today")
        default: (.other, nil)
        }
    }
}
