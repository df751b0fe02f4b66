internal import COpenSSL
internal import Platform

/// The settings of both kinds of context: versions, ciphers and groups of Mozilla's "intermediate" (v5.7, "Server Side TLS").
enum ContextSettings {
    /// For TLS 1.3, in order of preference.
    private static let suites = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
    /// For TLS 1.2, in order of preference: only forward secrecy and AEAD.
    private static let ciphers = [
        "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384",
        "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305", "DHE-RSA-AES128-GCM-SHA256", "DHE-RSA-AES256-GCM-SHA384",
        "DHE-RSA-CHACHA20-POLY1305",
    ]
    /// Added if deprecated versions are allowed: OpenSSL's defaults, with CBC and RSA key exchange. `DEFAULT` itself would have to come
    /// first.
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
        // Overrides openssl.cnf.
        _ = wiretape_ctx_set_min_version(context, minimum.number)
        _ = wiretape_ctx_set_max_version(context, 0)
        // This also forbids compression, which leaks. Renegotiation has been attacked, and HTTP needs neither (RFC 7457).
        wiretape_ctx_forbid_renegotiation(context)
        // Origins older than RFC 5746 cannot renegotiate safely, but renegotiation is off here.
        if minimum.isDeprecated { wiretape_ctx_allow_legacy_servers(context) }
        // Saves 34 KiB for each idle connection.
        _ = wiretape_ctx_set_mode(context, Int(SSL_MODE_RELEASE_BUFFERS))
        if keyLog != nil {
            SSL_CTX_set_keylog_callback(context) { ssl, line in
                guard let line else { return }
                ConnectionState.of(ssl)?.keyLog?.write(line)
            }
        }
        return context
    }

    /// For a deprecated version, adds old ciphers and keeps OpenSSL's own groups.
    private static func setCiphers(_ context: OpaquePointer, minimum: TLSVersion) throws(TLSFailure) {
        let ciphers = minimum.isDeprecated ? self.ciphers + self.oldCiphers : self.ciphers
        guard SSL_CTX_set_ciphersuites(context, self.suites) == 1,
            SSL_CTX_set_cipher_list(context, ciphers.joined(separator: ":")) == 1
        else { throw .drained() }
        guard !minimum.isDeprecated else { return }
        // OpenSSL refuses a list with an unknown group, such as X25519 under a policy that forbids it.
        let known = self.groups.filter { wiretape_ctx_set_groups(context, $0) == 1 }
        ERR_clear_error()
        guard wiretape_ctx_set_groups(context, known.joined(separator: ":")) == 1 else { throw .drained() }
    }
}

/// A supported TLS version. SSL 2 and 3 are not supported.
public enum TLSVersion: String, Sendable, Hashable, CaseIterable, Comparable {
    case tls10 = "1.0"
    case tls11 = "1.1"
    case tls12 = "1.2"
    case tls13 = "1.3"

    public static func < (left: TLSVersion, right: TLSVersion) -> Bool { left.number < right.number }

    /// As on the wire (RFC 8446, 4.2.1).
    var number: Int32 {
        switch self {
        case .tls10: TLS1_VERSION
        case .tls11: TLS1_1_VERSION
        case .tls12: TLS1_2_VERSION
        case .tls13: TLS1_3_VERSION
        }
    }

    /// RFC 8996 deprecates versions below 1.2. OpenSSL supports them only at security level 0, because their handshakes are signed with
    /// SHA-1.
    var isDeprecated: Bool { self < .tls12 }
}

/// A file of TLS secrets in NSS format, with which Wireshark decrypts a capture (the file named by `SSLKEYLOGFILE`).
///
/// Appends, because other programs may write to the same file.
public final class KeyLog: Sendable {
    private let descriptor: Int32

    /// - Returns: nil if the file cannot be opened. `errno` has the reason.
    public init?(path: String) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    deinit {
        close(self.descriptor)
    }

    /// Writes with a single call, so that lines of several programs do not mix.
    func write(_ line: UnsafePointer<CChar>) {
        let count = strlen(line)
        withUnsafeTemporaryAllocation(byteCount: count + 1, alignment: 1) { buffer in
            UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]).copyMemory(from: UnsafeRawBufferPointer(start: line, count: count))
            buffer[count] = UInt8(ascii: "\n")
            // A log that cannot be written does not fail the connection.
            _ = Platform.write(self.descriptor, buffer.baseAddress, count + 1)
        }
    }
}
