internal import CassetteModel
internal import TapeTLS

extension TLSDetails {
    /// What was agreed on with an origin that sent these certificates.
    convenience init(_ connection: borrowing TLSConnection, serverName: String?, certificates: [CertificateSummary]) {
        self.init(
            version: connection.version, cipher: connection.cipher, alpn: connection.protocolName, sni: serverName,
            isResumed: connection.isResumed, chain: certificates.map { RecordedCertificate($0) })
    }
}
