internal import COpenSSL
internal import Platform

extension TLSFailure {
    /// What a verification's error (X509_V_ERR_…) says of a certificate.
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
            return (.unknownAuthority, "the authority \(issuer) is unknown, or its certificate is missing in what the server sends")
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
            return (.nameMismatch, self.mismatch(certificate))
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL, X509_V_ERR_CA_MD_TOO_WEAK:
            return (.other, "the certificate \(subject) is too weak for today")
        default:
            return (.other, nil)
        }
    }

    /// The first few names: a certificate can have hundreds.
    private static func mismatch(_ certificate: CertificateSummary?) -> String {
        guard let certificate, !certificate.names.isEmpty else {
            let subject = certificate.map { ", and it has only the subject \"\($0.subject)\"" } ?? ""
            return "the certificate names no host: subjectAltName is what counts (RFC 9525)\(subject)"
        }
        let shown = certificate.names.prefix(3).map { "\"\($0)\"" }.joined(separator: ", ")
        return "the certificate is for \(shown)\(certificate.names.count > 3 ? " and \(certificate.names.count - 3) more" : "")"
    }

    /// A time as its day in UTC.
    private static func day(_ seconds: Int64?) -> String {
        // What certificates can say at most (RFC 5280, 4.1.2.5).
        guard let seconds, (0...253_402_300_799).contains(seconds) else { return "an unreadable date" }
        var time = time_t(seconds)
        var parts = tm()
        gmtime_r(&time, &parts)
        let (year, month, day) = (parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday)
        return "\(year)-\(month < 10 ? "0" : "")\(month)-\(day < 10 ? "0" : "")\(day)"
    }
}
