internal import COpenSSL

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
