internal import COpenSSL
public import TapeBytes

/// The server of a client's connection, and how its certificates are checked.
public struct TLSPeer: Sendable {
    /// The host that the certificate must be valid for: a name or an address.
    public var host: String
    /// The server_name extension; nil omits it, as for addresses (RFC 6066, 3).
    public var serverName: String?
    /// Application protocols to offer, in order of preference; empty omits the extension.
    public var protocols: [String]
    public var policy: PeerPolicy
    /// Sent if the server asks for a certificate.
    public var identity: ClientIdentity?
    /// Identifies the rules by which a session was checked. Only sessions with an equal key are resumed.
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

    /// Sets up a client's connection: server name, protocols, certificate check, identity and the session to resume.
    func prepare(_ ssl: OpaquePointer, _ state: ConnectionState, sessions: TLSSessionCache?) throws(TLSFailure) {
        ERR_clear_error()
        state.policy = self.policy
        state.host = self.host
        if let name = self.serverName, wiretape_ssl_set_server_name(ssl, name) != 1 {
            // Without the extension the server would send its default certificate.
            throw TLSFailure(
                cause: .other, message: "its name is too long for the server_name extension (RFC 6066, 3)", reasons: ErrorQueue.drain())
        }
        if !self.protocols.isEmpty {
            let list = self.protocols.flatMap { [UInt8(truncatingIfNeeded: $0.utf8.count)] + Array($0.utf8) }
            SSL_set_alpn_protos(ssl, list, UInt32(list.count))
        }
        if self.policy.validatesHost {
            // OpenSSL would let an empty name match any certificate, end a name at the first zero, and let ".a" match every name below "a".
            guard !self.host.isEmpty, !self.host.utf8.contains(0), self.host.utf8.first != UInt8(ascii: ".") else {
                throw TLSFailure(cause: .nameMismatch, message: "the host is not a name that a certificate can have")
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

/// A client's certificate and key, for servers that ask for one (mutual TLS).
public final class ClientIdentity: Sendable {
    private let chain: CertificateChain
    private let key: PrivateKey

    /// - Parameters:
    ///   - certificatePEM: the client's certificate, then those that lead to an authority that the server trusts.
    ///   - keyPEM: its private key. May be the same text, for files that contain both.
    public init(certificatePEM: [UInt8], keyPEM: [UInt8]) throws(CertificateError) {
        let chain = try CertificateChain(pem: certificatePEM)
        let key = try PrivateKey(pem: keyPEM)
        guard let leaf = chain.pointers.first else {
            throw CertificateError(.damaged, "no certificate in PEM form; it begins with \"-----BEGIN CERTIFICATE-----\"")
        }
        ErrorQueue.clear()
        guard X509_check_private_key(leaf, key.pointer) == 1 else {
            ErrorQueue.clear()
            throw CertificateError(.mismatch, "the key does not belong to the first certificate; give the key of that certificate")
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
