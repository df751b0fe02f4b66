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
        self.names = names
        self.notBefore = certificate.notBefore
        self.notAfter = certificate.notAfter
        self.certificate = certificate
        self.key = key
        self.issuers = issuers
    }
}
