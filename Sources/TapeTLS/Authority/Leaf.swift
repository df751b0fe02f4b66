internal import COpenSSL

/// A certificate minted for one host, with what has to be sent with it.
public final class Leaf: Sendable {
    let certificate: Certificate
    let key: PrivateKey

    init(certificate: consuming Certificate, key: consuming PrivateKey) {
        self.certificate = certificate
        self.key = key
    }

    func use(in ssl: OpaquePointer) throws(TLSFailure) {
        guard SSL_use_certificate(ssl, self.certificate.pointer) == 1, SSL_use_PrivateKey(ssl, self.key.pointer) == 1 else { throw .drained() }
    }
}
