internal import COpenSSL
public import TapeBytes

/// The server that a client's connection is for, and how it is judged.
public struct TLSPeer: Sendable {
    /// The host that the certificate has to be for: a name or an address.
    public var host: String
    /// What the server_name extension says; nil leaves it out, as for addresses (RFC 6066, 3).
    public var serverName: String?
    /// Application protocols to offer, the best first; empty leaves the extension out.
    public var protocols: [String]
    public var policy: PeerPolicy
    /// What we show where the server asks.
    public var identity: ClientIdentity?
    /// Names what a session was judged by: sessions are resumed within equal keys alone.
    public var sessionKey: String

    public init(
        host: String, serverName: String?, protocols: [String] = [], policy: PeerPolicy = .defaultEvaluation(),
        identity: ClientIdentity? = nil, sessionKey: String = ""
    ) {
        self.host = host
        self.serverName = serverName
        self.protocols = protocols
        self.policy = policy
        self.identity = identity
        self.sessionKey = sessionKey
    }
}

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

extension TLSPeer {
    /// Tells a client's connection whom it is for: what it asks for, what it shows and what it judges by.
    func prepare(_ ssl: OpaquePointer, _ state: ConnectionState, sessions: TLSSessionCache?) throws(TLSFailure) {
        ERR_clear_error()
        state.policy = self.policy
        state.host = self.host
        // RFC 6066, 3: addresses are no server names.
        if let name = self.serverName, wiretape_ssl_set_server_name(ssl, name) != 1 {
            // Without it the server would show whatever it has for no name.
            throw TLSFailure(cause: .other, message: "its name is too long to be asked for (RFC 6066, 3)", reasons: ErrorQueue.drain())
        }
        if !self.protocols.isEmpty {
            let list = self.protocols.flatMap { [UInt8(truncatingIfNeeded: $0.utf8.count)] + Array($0.utf8) }
            SSL_set_alpn_protos(ssl, list, UInt32(list.count))
        }
        if self.policy.validatesHost {
            // OpenSSL takes no name for any name, reads to the first zero, and takes ".a" for every name below "a".
            guard !self.host.isEmpty, !self.host.utf8.contains(0), self.host.utf8.first != UInt8(ascii: ".") else {
                throw TLSFailure(cause: .nameMismatch, message: "no certificate can be for the host it was asked for")
            }
            let parameters = SSL_get0_param(ssl)
            X509_VERIFY_PARAM_set_hostflags(parameters, PeerVerifier.hostFlags)
            if X509_VERIFY_PARAM_set1_ip_asc(parameters, self.host) != 1 {
                ERR_clear_error()
                guard SSL_set1_host(ssl, self.host) == 1 else { throw .drained() }
            }
        }
        try self.identity?.use(in: ssl)
        guard let sessions else { return }
        state.sessions = sessions
        state.sessionKey = self.sessionKey
        sessions.withSession(for: self.sessionKey) { SSL_set_session(ssl, $0) }
    }
}
