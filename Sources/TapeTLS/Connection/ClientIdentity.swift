internal import COpenSSL

/// The certificate and key that we show to servers that ask (mutual TLS).
public final class ClientIdentity: Sendable {
    private let chain: CertificateChain
    private let key: PrivateKey

    /// - Parameters:
    ///   - certificatePEM: our certificate, and behind it those that lead to an authority the server knows.
    ///   - keyPEM: its private key; may be the same text, for files that hold both.
    public init(certificatePEM: [UInt8], keyPEM: [UInt8]) throws(CertificateError) {
        let chain = try CertificateChain(pem: certificatePEM)
        let key = try PrivateKey(pem: keyPEM)
        guard let leaf = chain.pointers.first else {
            throw CertificateError(.damaged, "no certificate in PEM form; it begins with \"-----BEGIN CERTIFICATE-----\"")
        }
        ErrorQueue.clear()
        guard X509_check_private_key(leaf, key.pointer) == 1 else {
            ErrorQueue.clear()
            throw CertificateError(.mismatch, "certificate and key do not belong together; give the key of the first certificate")
        }
        self.chain = chain
        self.key = key
    }

    func use(in ssl: OpaquePointer) throws(TLSFailure) {
        ErrorQueue.clear()
        guard let leaf = self.chain.pointers.first, SSL_use_certificate(ssl, leaf) == 1, SSL_use_PrivateKey(ssl, self.key.pointer) == 1
        else {
            throw .drained()
        }
        for pointer in self.chain.pointers.dropFirst() { wiretape_ssl_add_chain_certificate(ssl, pointer) }
    }
}
