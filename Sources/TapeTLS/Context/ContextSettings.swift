internal import COpenSSL

/// What both kinds of context set in the same way.
enum ContextSettings {
    /// - Returns: a context that the caller owns.
    static func make(_ method: OpaquePointer?, minimum: TLSVersion, keyLog: KeyLog?) throws(TLSFailure) -> OpaquePointer {
        ERR_clear_error()
        guard let context = SSL_CTX_new(method) else { throw .drained() }
        // Whatever openssl.cnf has: what is spoken is decided here.
        _ = wiretape_ctx_set_min_version(context, minimum.number)
        _ = wiretape_ctx_set_max_version(context, 0)
        // RFC 7457: compression leaks; renegotiation has had its flaws, and HTTP needs neither.
        wiretape_ctx_forbid_renegotiation(context)
        if minimum.isDeprecated {
            SSL_CTX_set_cipher_list(context, "DEFAULT:@SECLEVEL=0")
            // Origins from before RFC 5746 cannot renegotiate safely; here nobody can renegotiate at all.
            wiretape_ctx_allow_legacy_servers(context)
        }
        // An idle connection keeps no buffers: 34 KiB less.
        _ = wiretape_ctx_set_mode(context, Int(SSL_MODE_RELEASE_BUFFERS))
        if keyLog != nil {
            SSL_CTX_set_keylog_callback(context) { ssl, line in
                guard let line else { return }
                ConnectionState.of(ssl)?.keyLog?.write(line)
            }
        }
        return context
    }
}
