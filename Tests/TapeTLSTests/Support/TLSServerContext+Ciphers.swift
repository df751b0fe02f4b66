internal import COpenSSL

@testable import TapeTLS

extension TLSServerContext {
    /// Ciphers below TLS 1.3, by OpenSSL's names.
    func speakOnly(_ list: String) {
        SSL_CTX_set_cipher_list(self.pointer, list)
        ERR_clear_error()
    }

    /// Groups for the key exchange, by OpenSSL's names.
    func useOnly(groups: String) {
        _ = wiretape_ctx_set_groups(self.pointer, groups)
        ERR_clear_error()
    }
}
