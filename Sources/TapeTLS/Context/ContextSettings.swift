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
        SSL_CTX_set_options(context, UInt64(SSL_OP_NO_COMPRESSION) | UInt64(SSL_OP_NO_RENEGOTIATION))
        if minimum.isDeprecated {
            SSL_CTX_set_cipher_list(context, "DEFAULT:@SECLEVEL=0")
            // Origins from before RFC 5746 cannot renegotiate safely; here nobody can renegotiate at all.
            SSL_CTX_set_options(context, UInt64(SSL_OP_LEGACY_SERVER_CONNECT))
        }
        // An idle connection keeps no buffers: 34 KiB less.
        _ = wiretape_ctx_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER)
        if keyLog != nil {
            SSL_CTX_set_keylog_callback(context) { ssl, line in
                guard let line else { return }
                ConnectionState.of(ssl.map { OpaquePointer($0) })?.keyLog?.write(line)
            }
        }
        return context
    }
}
