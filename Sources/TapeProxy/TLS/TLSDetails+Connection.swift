internal import TapeCore
internal import TapeTLS

extension TLSDetails {
    /// What was agreed on with an origin.
    convenience init(_ connection: borrowing TLSConnection, serverName: String?) {
        self.init(
            version: connection.version, cipher: connection.cipher, alpn: connection.protocolName, sni: serverName,
            isResumed: connection.isResumed, chain: connection.peerCertificates().map { RecordedCertificate($0) })
    }
}
