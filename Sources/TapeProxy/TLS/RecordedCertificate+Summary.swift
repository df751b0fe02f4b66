internal import CassetteModel
internal import TapeBytes
internal import TapeTLS

extension RecordedCertificate {
    init(_ certificate: CertificateSummary) {
        self.init(
            sha256: Hex.encode(certificate.fingerprint), subject: certificate.subject, issuer: certificate.issuer,
            notBefore: Timestamp(seconds: certificate.notBefore), notAfter: Timestamp(seconds: certificate.notAfter))
    }
}

extension Timestamp {
    /// A certificate's time, which may be as far off as its maker liked.
    fileprivate init(seconds: Int64) {
        self.init(microseconds: seconds.multipliedReportingOverflow(by: 1_000_000).overflow ? 0 : seconds * 1_000_000)
    }
}
