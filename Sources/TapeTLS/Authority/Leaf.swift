/// A certificate for one host with what a server needs beside it: the key, and the certificates to send after it.
public final class Leaf: Sendable {
    public let names: LeafNames
    public let certificate: Certificate
    /// Seconds since 1970.
    public let notBefore: Int64
    /// Seconds since 1970.
    public let notAfter: Int64
    let key: PrivateKey
    let issuers: CertificateChain

    init(
        names: LeafNames, certificate: consuming Certificate, key: consuming PrivateKey, issuers: consuming CertificateChain
    ) {
        let summary = certificate.summary
        self.names = names
        self.notBefore = summary.notBefore
        self.notAfter = summary.notAfter
        self.certificate = certificate
        self.key = key
        self.issuers = issuers
    }
}
