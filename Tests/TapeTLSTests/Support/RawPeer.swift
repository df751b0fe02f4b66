internal import COpenSSL

@testable import TapeTLS

/// OpenSSL's own client with its own memory BIOs: does things that our ends never do, such as requesting a renegotiation.
final class RawPeer {
    let ssl: OpaquePointer
    private let input: OpaquePointer
    private let output: OpaquePointer

    private struct NoMemory: Error {}

    /// - Parameters:
    ///   - ciphers: the ciphers below TLS 1.3, by OpenSSL's names, the best first.
    ///   - suites: the cipher suites of TLS 1.3.
    ///   - groups: the groups for the key exchange.
    init(
        maximum: TLSVersion = .tls13, minimum: TLSVersion = .tls12, serverName: String? = "example.test", ciphers: String? = nil,
        suites: String? = nil, groups: String? = nil
    ) throws {
        guard let context = SSL_CTX_new(TLS_client_method()) else { throw NoMemory() }
        defer { SSL_CTX_free(context) }
        _ = wiretape_ctx_set_min_version(context, minimum.number)
        _ = wiretape_ctx_set_max_version(context, maximum.number)
        if minimum < .tls12 { SSL_CTX_set_cipher_list(context, "DEFAULT:@SECLEVEL=0") }
        if let ciphers { SSL_CTX_set_cipher_list(context, ciphers) }
        if let suites { SSL_CTX_set_ciphersuites(context, suites) }
        if let groups { _ = wiretape_ctx_set_groups(context, groups) }
        guard let ssl = SSL_new(context), let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem()) else { throw NoMemory() }
        SSL_set_bio(ssl, input, output)
        if let serverName { _ = wiretape_ssl_set_server_name(ssl, serverName) }
        SSL_set_connect_state(ssl)
        self.ssl = ssl
        self.input = input
        self.output = output
    }

    deinit { SSL_free(self.ssl) }

    /// OpenSSL's name of the negotiated cipher.
    var cipher: String { SSL_get_current_cipher(self.ssl).flatMap { SSL_CIPHER_get_name($0) }.map { String(cString: $0) } ?? "" }

    /// OpenSSL's number of the key exchange group.
    var group: Int32 { wiretape_ssl_group(self.ssl) }

    /// Continues as far as the bytes allow, and leaves no error behind.
    ///
    /// - Returns: the bytes to send.
    func receive(_ ciphertext: [UInt8] = []) -> [UInt8] {
        if !ciphertext.isEmpty { BIO_write(self.input, ciphertext, Int32(ciphertext.count)) }
        if SSL_do_handshake(self.ssl) == 1 {
            var buffer = [UInt8](repeating: 0, count: 4096)
            while SSL_read(self.ssl, &buffer, 4096) > 0 {}
        }
        ERR_clear_error()
        return self.taken()
    }

    func send(_ plaintext: [UInt8]) -> [UInt8] {
        SSL_write(self.ssl, plaintext, Int32(plaintext.count))
        ERR_clear_error()
        return self.taken()
    }

    func taken() -> [UInt8] {
        var result: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = BIO_read(self.output, &buffer, 4096), count > 0 { result += buffer.prefix(Int(count)) }
        return result
    }

    /// Performs the handshake with a server's end.
    func run(with server: TLSEnd) {
        var up = self.receive()
        while !up.isEmpty {
            server.receive(up)
            up = self.receive(server.output())
        }
    }
}
