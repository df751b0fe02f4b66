internal import COpenSSL

/// What connections that we open share: versions, the roots that are trusted, callbacks.
// SAFETY: the context is never changed after it was made; OpenSSL counts its references atomically and locks its store of roots.
public struct TLSClientContext: ~Copyable, @unchecked Sendable {
    let pointer: OpaquePointer
    let keyLog: KeyLog?

    /// - Parameters:
    ///   - trustsSystem: whether the roots of the system, or those that `SSL_CERT_FILE` and `SSL_CERT_DIR` name, are trusted.
    ///   - roots: files with further roots in PEM.
    public init(minimum: TLSVersion = .tls12, trustsSystem: Bool = true, roots: [String] = [], keyLog: KeyLog? = nil) throws(TLSFailure) {
        let context = try ContextSettings.make(TLS_client_method(), minimum: minimum, keyLog: keyLog)
        do throws(TLSFailure) {
            try Self.trust(context, trustsSystem: trustsSystem, roots: roots)
        } catch {
            SSL_CTX_free(context)
            throw error
        }
        self.pointer = context
        self.keyLog = keyLog
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        SSL_CTX_set_cert_verify_callback(context, { store, _ in PeerVerifier.verify(store) }, nil)
        _ = wiretape_ctx_set_session_cache_mode(context, Int(SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL))
        SSL_CTX_sess_set_new_cb(context) { ssl, session in
            guard let session, let state = ConnectionState.of(ssl), let sessions = state.sessions else { return 0 }
            sessions.store(session, for: state.sessionKey)
            return 1
        }
        // Called where no certificate was set: it only takes note.
        SSL_CTX_set_client_cert_cb(context) { ssl, _, _ in
            ConnectionState.of(ssl)?.lacksCertificate = true
            return 0
        }
    }

    private static func trust(_ context: OpaquePointer, trustsSystem: Bool, roots: [String]) throws(TLSFailure) {
        if trustsSystem { SSL_CTX_set_default_verify_paths(context) }
        for file in roots {
            ERR_clear_error()
            guard SSL_CTX_load_verify_file(context, file) == 1 else {
                throw TLSFailure(
                    cause: .other, message: "\"\(file)\" has no certificates in PEM: give a file with the authority's certificate.",
                    reasons: ErrorQueue.drain())
            }
        }
    }

    deinit {
        SSL_CTX_free(self.pointer)
    }
}
