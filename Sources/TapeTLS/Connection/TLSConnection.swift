internal import COpenSSL

/// One end of a TLS connection without a socket: turns ciphertext into plaintext and the reverse.
///
/// Owns OpenSSL's connection and frees it. Does no I/O and has no clock: the caller sends the bytes from `takeOutput`, and passes the
/// peer's bytes to `receive`. Not Sendable: one thread at a time.
public struct TLSConnection: ~Copyable {
    /// After its hello, a client can send only early data, of which OpenSSL skips 16 KiB (RFC 8446, 4.2.10).
    private static let pendingLimit = 65_536

    private let ssl: OpaquePointer
    private let state: ConnectionState
    private let isServer: Bool
    /// Input that cannot be read yet, because the handshake waits for `answer`.
    private var pending: [UInt8] = []
    /// The handshake is complete, so plaintext can be sent.
    public private(set) var isEstablished = false
    /// The peer has ended its side with close_notify.
    public private(set) var isEnded = false
    private var isOutputEnded = false
    private var failure: TLSFailure?

    /// The server's end. After the client's hello, it waits for `answer`.
    public init(server context: borrowing TLSServerContext) throws(TLSFailure) {
        self.state = ConnectionState(keyLog: context.keyLog)
        self.ssl = try Self.make(context.pointer, self.state)
        self.isServer = true
        SSL_set_accept_state(self.ssl)
    }

    /// The client's end. Call `receive` with no bytes to make the first message.
    public init(client context: borrowing TLSClientContext, peer: borrowing TLSPeer, sessions: TLSSessionCache? = nil) throws(TLSFailure) {
        let state = ConnectionState(keyLog: context.keyLog)
        let ssl = try Self.make(context.pointer, state)
        do throws(TLSFailure) {
            try peer.prepare(ssl, state, sessions: sessions)
        } catch {
            SSL_free(ssl)
            throw error
        }
        self.state = state
        self.ssl = ssl
        self.isServer = false
        SSL_set_connect_state(ssl)
    }

    deinit {
        SSL_free(self.ssl)
    }

    private static func make(_ context: OpaquePointer, _ state: ConnectionState) throws(TLSFailure) -> OpaquePointer {
        ERR_clear_error()
        guard let ssl = SSL_new(context) else { throw .drained() }
        guard let bio = ConnectionBIO.make(state) else {
            SSL_free(ssl)
            throw .drained()
        }
        SSL_set_bio(ssl, bio, bio)
        state.attach(to: ssl)
        return ssl
    }

    // MARK: Input

    /// Processes ciphertext: the handshake first, then records of plaintext.
    ///
    /// - Parameters:
    ///   - ciphertext: bytes from the peer; may be empty. All are read unless the connection fails.
    ///   - room: called for each piece of plaintext with the smallest sufficient size. Must call the given function with a space of that
    ///     size; the function returns how many bytes were filled.
    public mutating func receive(
        _ ciphertext: UnsafeRawBufferPointer, room: (Int, (UnsafeMutableRawBufferPointer) -> Int) -> Void
    ) -> TLSProgress {
        if let failure { return .failed(failure) }
        if let hello = self.state.hello, !self.state.isHelloAnswered { return self.keep(ciphertext, after: hello) }
        guard self.pending.isEmpty else {
            self.pending.append(contentsOf: ciphertext)
            var input: [UInt8] = []
            swap(&input, &self.pending)
            return input.withUnsafeBytes { self.process($0, room) }
        }
        return self.process(ciphertext, room)
    }

    private mutating func process(
        _ ciphertext: UnsafeRawBufferPointer, _ room: (Int, (UnsafeMutableRawBufferPointer) -> Int) -> Void
    ) -> TLSProgress {
        self.state.input = ciphertext
        defer { self.state.input = UnsafeRawBufferPointer(start: nil, count: 0) }
        if !self.isEstablished {
            let progress = self.handshake()
            guard self.isEstablished else {
                if case .hello(let hello) = progress { return self.keep(self.state.input, after: hello) }
                return progress
            }
        }
        return self.read(room)
    }

    private mutating func keep(_ ciphertext: UnsafeRawBufferPointer, after hello: ClientHello) -> TLSProgress {
        guard self.pending.count + ciphertext.count <= Self.pendingLimit else {
            let failure = TLSFailure(cause: .malformed, message: "it sent too many bytes before its hello was answered")
            self.failure = failure
            return .failed(failure)
        }
        self.pending.append(contentsOf: ciphertext)
        return .hello(hello)
    }

    private mutating func handshake() -> TLSProgress {
        ERR_clear_error()
        let status = SSL_do_handshake(self.ssl)
        guard status != 1 else {
            self.isEstablished = true
            return .needsInput
        }
        switch SSL_get_error(self.ssl, status) {
        case SSL_ERROR_WANT_READ:
            ERR_clear_error()
            return .needsInput
        case SSL_ERROR_WANT_CLIENT_HELLO_CB:
            ERR_clear_error()
            return .hello(self.state.hello ?? ClientHello())
        // SSL_ERROR_SSL and _SYSCALL. The others need callbacks that are not set.
        default:
            return self.fail()
        }
    }

    private mutating func read(_ room: (Int, (UnsafeMutableRawBufferPointer) -> Int) -> Void) -> TLSProgress {
        while !self.isEnded, !self.state.input.isEmpty || SSL_pending(self.ssl) > 0 {
            var status: Int32 = 0
            ERR_clear_error()
            // Plaintext is never longer than its ciphertext, and a record has at most 16 KiB (RFC 8446, 5.1).
            let least = min(max(self.state.input.count, Int(SSL_pending(self.ssl)), 64), 16_384)
            room(least) { space in
                status = SSL_read(self.ssl, space.baseAddress, Int32(clamping: space.count))
                return Int(max(0, status))
            }
            guard status <= 0 else { continue }
            switch SSL_get_error(self.ssl, status) {
            case SSL_ERROR_WANT_READ:
                ERR_clear_error()
                return .needsInput
            case SSL_ERROR_ZERO_RETURN:
                self.isEnded = true
            default:
                return self.fail()
            }
        }
        return self.isEnded ? .ended : .needsInput
    }

    private mutating func fail() -> TLSFailure {
        var failure = TLSFailure.drained(lacksCertificate: self.state.lacksCertificate)
        if var verdict = self.state.verdict {
            verdict.reasons += failure.reasons
            failure = verdict
        }
        self.failure = failure
        return failure
    }

    private mutating func fail() -> TLSProgress { .failed(self.fail()) }

    /// The transport has ended. Without an earlier close_notify, the data may be truncated (RFC 8446, 6.1).
    public mutating func inputEnded() -> TLSProgress {
        guard !self.isEnded else { return .ended }
        let message =
            self.isEstablished ? "it closed the connection without close_notify" : "it closed the connection during the handshake"
        let failure = self.failure ?? TLSFailure(cause: .closed, message: message)
        self.failure = failure
        return .failed(failure)
    }

    // MARK: The hello

    /// Server: continues the handshake with this certificate. Then call `receive`, without bytes if there are none.
    ///
    /// - Parameters:
    ///   - protocolName: the application protocol to use, one of those in the hello; nil leaves the extension unanswered.
    ///   - refusesProtocols: whether to send an alert to a client that offered only unsupported protocols (RFC 7301, 3.2).
    public mutating func answer(_ leaf: Leaf, protocolName: String?, refusesProtocols: Bool = false) throws(TLSFailure) {
        self.state.isHelloAnswered = true
        self.state.chosenProtocol = protocolName.map { Array($0.utf8) }
        self.state.refusesProtocols = refusesProtocols
        try leaf.use(in: self.ssl)
    }

    // MARK: Output

    /// Encrypts plaintext into the caller's space. Allowed between the handshake and `closeOutput`, even if the peer has ended its side.
    ///
    /// Send the bytes from `takeOutput` before the ciphertext. Ciphertext that does not fit comes after it, again from `takeOutput`.
    ///
    /// - Parameter room: called once with the required size. Must call the given function with a space of that size; the function returns
    ///   how many bytes were filled.
    public mutating func send(
        _ plaintext: UnsafeRawBufferPointer, room: (Int, (UnsafeMutableRawBufferPointer) -> Int) -> Void
    ) throws(TLSFailure) {
        if let failure { throw failure }
        guard self.isEstablished, !self.isOutputEnded else {
            // Not a failure of the connection: the peer may still send.
            throw TLSFailure(
                cause: .other, message: self.isEstablished ? "our side is already closed" : "the handshake is not complete")
        }
        guard !plaintext.isEmpty else { return }
        var status: Int32 = 0
        // 5 bytes before and at most 64 after each record of up to 16 KiB (RFC 5246, 6.2.3; RFC 8446, 5.2), and one more record for a
        // key update.
        room(plaintext.count + (plaintext.count / 16_384 + 2) * 80) { space in
            self.state.room = space
            ERR_clear_error()
            status = SSL_write(self.ssl, plaintext.baseAddress, Int32(clamping: plaintext.count))
            let filled = space.count - self.state.room.count
            self.state.room = UnsafeMutableRawBufferPointer(start: nil, count: 0)
            return filled
        }
        // Without SSL_MODE_ENABLE_PARTIAL_WRITE, OpenSSL writes all or nothing, and no caller has 2 GiB in one piece.
        guard Int(status) == plaintext.count else { throw self.fail() }
    }

    /// Ends this side with close_notify. Nothing can be sent after that.
    public mutating func closeOutput() {
        guard self.isEstablished, !self.isOutputEnded, self.failure == nil else { return }
        self.isOutputEnded = true
        ERR_clear_error()
        _ = SSL_shutdown(self.ssl)
        ERR_clear_error()
    }

    public var pendingOutput: Int { self.state.output.count }

    /// Passes the ciphertext to send to `body`.
    public mutating func takeOutput<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        self.state.output.take(body)
    }

    // MARK: Negotiated parameters
    // These are meaningful only once the handshake is complete.

    /// OpenSSL's name, such as `TLSv1.3`.
    public var version: String { SSL_get_version(self.ssl).map { String(cString: $0) } ?? "" }

    /// The standard name if there is one, otherwise OpenSSL's, such as `TLS_AES_256_GCM_SHA384`.
    public var cipher: String {
        guard let cipher = SSL_get_current_cipher(self.ssl) else { return "" }
        return (SSL_CIPHER_standard_name(cipher) ?? SSL_CIPHER_get_name(cipher)).map { String(cString: $0) } ?? ""
    }

    /// The negotiated application protocol (RFC 7301).
    public var protocolName: String? {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(self.ssl, &name, &length)
        guard let name, length > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
    }

    /// Whether the handshake resumed an earlier session (RFC 8446, 2.2).
    public var isResumed: Bool { SSL_session_reused(self.ssl) == 1 }

    /// The server's chain as sent, its own certificate first; empty on the server's end.
    public func peerCertificates() -> [CertificateSummary] {
        guard !self.isServer, let chain = SSL_get_peer_cert_chain(self.ssl) else { return [] }
        return (0..<max(0, wiretape_certificates_count(chain))).compactMap { index in
            wiretape_certificates_at(chain, index).map { CertificateSummary($0) }
        }
    }
}

/// The result of a call: what the connection needs next.
public enum TLSProgress: Sendable, Hashable {
    /// All input has been read. The connection waits for the peer.
    case needsInput
    /// A server has read the client's first message and waits for `TLSConnection.answer`.
    case hello(ClientHello)
    /// The peer has ended its side with close_notify (RFC 8446, 6.1).
    case ended
    /// The connection cannot be used any more. `takeOutput` may return an alert for the peer.
    case failed(TLSFailure)
}
