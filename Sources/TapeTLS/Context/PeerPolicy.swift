internal import COpenSSL

/// How a client checks a server's certificates. `PeerVerifier` implements it.
public enum PeerPolicy: Sendable {
    /// The chain must end in a root of the context (RFC 5280, 6). With `validatesHost`, the certificate must also name the host (RFC 9525).
    case defaultEvaluation(validatesHost: Bool = true)
    /// One of these certificates, in DER, must be in the chain. With `validatesChain`, they are its only anchors; without it, the server's
    /// own certificate must be one of them.
    case pinnedCertificates([[UInt8]], validatesChain: Bool = true, validatesHost: Bool = true)
    /// One of these keys, as SHA-256 of the SubjectPublicKeyInfo (RFC 7469, 2.4), must be in the chain. Without `validatesChain`, it must
    /// be the server's own.
    case pinnedPublicKeys([[UInt8]], validatesChain: Bool = true, validatesHost: Bool = true)
    /// Accepts any certificate.
    case disabled
    /// The function gets the chain in DER, the server's own certificate first, and the host. Nothing else is checked.
    case custom(@Sendable (_ chain: [[UInt8]], _ host: String) -> Bool)

    /// Whether the certificate must name the host.
    var validatesHost: Bool {
        switch self {
        case .defaultEvaluation(let validatesHost): validatesHost
        case .pinnedCertificates(_, _, let validatesHost): validatesHost
        case .pinnedPublicKeys(_, _, let validatesHost): validatesHost
        case .disabled, .custom: false
        }
    }
}

/// Checks a server's certificates according to the connection's policy, in place of OpenSSL's own check.
enum PeerVerifier {
    /// RFC 9525, 6.3: the subject does not name a host, because an authority need not check its contents. A wildcard must be a whole label.
    static let hostFlags = UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS)

    /// - Returns: 1 to continue. 0 ends the handshake with an alert; the connection's `verdict` has the reason.
    static func verify(_ store: OpaquePointer?) -> Int32 {
        guard let store,
            let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()).map({ OpaquePointer($0) }),
            let state = ConnectionState.of(ssl)
        else { return 0 }
        let verdict = self.check(store, state)
        state.verdict = verdict
        guard verdict != nil else { return 1 }
        // Selects the alert for the server: bad_certificate if OpenSSL itself accepted the certificates.
        if X509_STORE_CTX_get_error(store) == X509_V_OK { X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED) }
        return 0
    }

    private static func check(_ store: OpaquePointer, _ state: ConnectionState) -> TLSFailure? {
        switch state.policy {
        case .defaultEvaluation:
            return self.validate(store)
        case .pinnedCertificates(let pins, let validatesChain, let validatesHost):
            return self.check(store, state, pinnedCertificates: pins, validatesChain, validatesHost)
        case .pinnedPublicKeys(let pins, let validatesChain, let validatesHost):
            if validatesChain, let failure = self.validate(store) { return failure }
            if !validatesChain, validatesHost, let failure = self.checkHost(store, state) { return failure }
            guard self.proven(store, validatesChain).contains(where: { pins.contains(self.publicKeyDigest($0)) }) else {
                return TLSFailure(cause: .pinMismatch, message: "none of its certificates has a pinned public key")
            }
            return nil
        case .disabled:
            return nil
        case .custom(let evaluate):
            let chain = self.certificates(X509_STORE_CTX_get0_untrusted(store)).map { self.der($0) }
            guard evaluate(chain, state.host) else {
                return TLSFailure(cause: .refusedByPolicy, message: "the custom evaluation refused its certificates")
            }
            return nil
        }
    }

    private static func check(
        _ store: OpaquePointer, _ state: ConnectionState, pinnedCertificates pins: [[UInt8]], _ validatesChain: Bool, _ validatesHost: Bool
    ) -> TLSFailure? {
        if validatesChain {
            guard let anchors = wiretape_certificates_new() else { return self.outOfMemory }
            defer { wiretape_certificates_free(anchors) }
            for pin in pins {
                var next: UnsafePointer<UInt8>?
                pin.withUnsafeBufferPointer { bytes in
                    next = bytes.baseAddress
                    if let certificate = d2i_X509(nil, &next, bytes.count) { wiretape_certificates_push(anchors, certificate) }
                }
            }
            X509_STORE_CTX_set0_trusted_stack(store, anchors)
            // A server's own certificate can also be the anchor.
            X509_VERIFY_PARAM_set_flags(X509_STORE_CTX_get0_param(store), UInt(X509_V_FLAG_PARTIAL_CHAIN))
            let failure = self.validate(store)
            guard let failure else { return nil }
            switch failure.cause {
            case .unknownAuthority, .selfSigned:
                return TLSFailure(cause: .pinMismatch, message: "its chain does not lead to a pinned certificate", reasons: failure.reasons)
            default: return failure
            }
        }
        if validatesHost, let failure = self.checkHost(store, state) { return failure }
        guard self.proven(store, validatesChain).contains(where: { pins.contains(self.der($0)) }) else {
            return TLSFailure(cause: .pinMismatch, message: "none of its certificates is pinned")
        }
        return nil
    }

    /// The certificates that a pin may match. Without validation, only the first certificate's key is proven, because a server can send any
    /// other certificate after its own.
    private static func proven(_ store: OpaquePointer, _ validatesChain: Bool) -> [OpaquePointer] {
        guard !validatesChain else { return self.certificates(X509_STORE_CTX_get0_chain(store)) }
        return X509_STORE_CTX_get0_cert(store).map { [$0] } ?? []
    }

    /// Checks the chain, validity and, if set for the connection, the host.
    private static func validate(_ store: OpaquePointer) -> TLSFailure? {
        guard X509_verify_cert(store) != 1 else { return nil }
        return TLSFailure(
            verification: X509_STORE_CTX_get_error(store), of: X509_STORE_CTX_get_current_cert(store).map { CertificateSummary($0) })
    }

    private static func checkHost(_ store: OpaquePointer, _ state: ConnectionState) -> TLSFailure? {
        guard let leaf = X509_STORE_CTX_get0_cert(store) else { return self.noCertificate }
        // 1: one of its iPAddresses, 0: none of them, -1: out of memory, -2: the host is not an address.
        var status = X509_check_ip_asc(leaf, state.host, 0)
        if status == -2 { status = X509_check_host(leaf, state.host, state.host.utf8.count, self.hostFlags, nil) }
        return status == 1 ? nil : TLSFailure(verification: X509_V_ERR_HOSTNAME_MISMATCH, of: CertificateSummary(leaf))
    }

    private static let outOfMemory = TLSFailure(cause: .other, message: "out of memory")
    private static let noCertificate = TLSFailure(cause: .malformed, message: "it sent no certificate")

    private static func certificates(_ stack: OpaquePointer?) -> [OpaquePointer] {
        guard let stack else { return [] }
        return (0..<max(0, wiretape_certificates_count(stack))).compactMap { wiretape_certificates_at(stack, $0) }
    }

    private static func der(_ certificate: OpaquePointer) -> [UInt8] {
        let length = i2d_X509(certificate, nil)
        guard length > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, count in
            var next = buffer.baseAddress
            count = max(0, Int(i2d_X509(certificate, &next)))
        }
    }

    private static func publicKeyDigest(_ certificate: OpaquePointer) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        guard let key = X509_get_X509_PUBKEY(certificate) else { return [] }
        var der: UnsafeMutablePointer<UInt8>?
        let length = i2d_X509_PUBKEY(key, &der)
        defer { CRYPTO_free(der, #file, #line) }
        guard length > 0, EVP_Digest(der, Int(length), &digest, nil, EVP_sha256(), nil) == 1 else { return [] }
        return digest
    }
}
