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
        // SSL_CTX_set1_groups_list, which is a macro.
        _ = groups.withCString { SSL_CTX_ctrl(self.pointer, SSL_CTRL_SET_GROUPS_LIST, 0, UnsafeMutableRawPointer(mutating: $0)) }
        ERR_clear_error()
    }
}
