internal import COpenSSL

/// What both kinds of context set in the same way: versions, ciphers and groups as in Mozilla's "intermediate" (v5.7, "Server Side TLS").
enum ContextSettings {
    /// Of TLS 1.3, the best first.
    private static let suites = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
    /// Of TLS 1.2, the best first: forward secrecy and AEAD alone.
    private static let ciphers = [
        "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384",
        "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305", "DHE-RSA-AES128-GCM-SHA256", "DHE-RSA-AES256-GCM-SHA384",
        "DHE-RSA-CHACHA20-POLY1305",
    ]
    /// After those, if deprecated versions are allowed: what OpenSSL has by default, CBC and RSA key exchange among it. `DEFAULT` spelt
    /// out, as it has to come first.
    private static let oldCiphers = ["ALL", "!COMPLEMENTOFDEFAULT", "!eNULL", "@SECLEVEL=0"]
    private static let groups = ["X25519", "P-256", "P-384"]

    /// - Returns: a context that the caller owns.
    static func make(_ method: OpaquePointer?, minimum: TLSVersion, keyLog: KeyLog?) throws(TLSFailure) -> OpaquePointer {
        ERR_clear_error()
        guard let context = SSL_CTX_new(method) else { throw .drained() }
        do throws(TLSFailure) {
            try self.setCiphers(context, minimum: minimum)
        } catch {
            SSL_CTX_free(context)
            throw error
        }
        // Whatever openssl.cnf has: what is spoken is decided here.
        _ = wiretape_ctx_set_min_version(context, minimum.number)
        _ = wiretape_ctx_set_max_version(context, 0)
        // RFC 7457: compression leaks; renegotiation has had its flaws, and HTTP needs neither.
        wiretape_ctx_forbid_renegotiation(context)
        // Origins from before RFC 5746 cannot renegotiate safely; here nobody can renegotiate at all.
        if minimum.isDeprecated { wiretape_ctx_allow_legacy_servers(context) }
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

    /// With a deprecated version, old ciphers follow and OpenSSL's own groups stay.
    private static func setCiphers(_ context: OpaquePointer, minimum: TLSVersion) throws(TLSFailure) {
        let ciphers = minimum.isDeprecated ? self.ciphers + self.oldCiphers : self.ciphers
        guard SSL_CTX_set_ciphersuites(context, self.suites) == 1,
            SSL_CTX_set_cipher_list(context, ciphers.joined(separator: ":")) == 1
        else { throw .drained() }
        guard !minimum.isDeprecated else { return }
        // OpenSSL takes no list with a group that it does not have, as X25519 under a policy that forbids it.
        let known = self.groups.filter { wiretape_ctx_set_groups(context, $0) == 1 }
        ERR_clear_error()
        guard wiretape_ctx_set_groups(context, known.joined(separator: ":")) == 1 else { throw .drained() }
    }
}
