internal import COpenSSL

/// What both ends agreed on in the handshake; before it there is nothing to tell.
extension TLSConnection {
    /// As OpenSSL spells it: `TLSv1.3`.
    public var version: String { SSL_get_version(self.ssl).map { String(cString: $0) } ?? "" }

    /// `TLS_AES_256_GCM_SHA384`, the name of the standard where it has one.
    public var cipher: String {
        guard let cipher = SSL_get_current_cipher(self.ssl) else { return "" }
        return (SSL_CIPHER_standard_name(cipher) ?? SSL_CIPHER_get_name(cipher)).map { String(cString: $0) } ?? ""
    }

    /// The application protocol agreed on (RFC 7301).
    public var protocolName: String? {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(self.ssl, &name, &length)
        guard let name, length > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
    }

    /// Whether the handshake took up an earlier session (RFC 8446, 2.2).
    public var isResumed: Bool { SSL_session_reused(self.ssl) == 1 }

    /// The server's chain as it was sent, its own certificate first; empty on a server's side.
    public func peerCertificates() -> [CertificateSummary] {
        guard !self.isServer, let chain = SSL_get_peer_cert_chain(self.ssl) else { return [] }
        return (0..<max(0, wiretape_certificates_count(chain))).compactMap { index in
            wiretape_certificates_at(chain, index).map { CertificateSummary($0) }
        }
    }
}
