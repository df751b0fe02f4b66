internal import COpenSSL

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

extension Leaf {
    /// Shows the leaf to a client, with the certificates that lead from it to a root, and without the root: clients that trust it
    /// have it (RFC 8446, 4.4.2).
    func use(in ssl: OpaquePointer) throws(TLSFailure) {
        ErrorQueue.clear()
        guard SSL_use_certificate(ssl, self.certificate.pointer) == 1, SSL_use_PrivateKey(ssl, self.key.pointer) == 1 else {
            throw .drained()
        }
        for issuer in self.issuers.pointers where X509_self_signed(issuer, 0) != 1 { _ = wiretape_ssl_add_chain_certificate(ssl, issuer) }
    }
}
