internal import COpenSSL

/// One end of a TLS connection without a socket: ciphertext goes in and plaintext comes out, and the reverse.
///
/// Owns OpenSSL's connection and frees it. Does no I/O and knows no time: what `takeOutput` gives has to be sent, and what comes
/// from the peer to be handed to `receive`. Not Sendable: one thread at a time.
public struct TLSConnection: ~Copyable {
    /// Behind its hello a client can send early data alone, and OpenSSL passes over 16 KiB of that (RFC 8446, 4.2.10).
    private static let pendingLimit = 65_536

    let ssl: OpaquePointer
    private let state: ConnectionState
    let isServer: Bool
    /// Input that could not be read yet, since the handshake waits for an answer.
    private var pending: [UInt8] = []
    /// The handshake is through: plaintext can be sent.
    public private(set) var isEstablished = false
    /// The peer has ended its side with close_notify.
    public private(set) var isEnded = false
    private var isOutputEnded = false
    private var failure: TLSFailure?

    /// The server's end. After the client's hello it waits for `answer`.
    public init(server context: borrowing TLSServerContext) throws(TLSFailure) {
        self.state = ConnectionState(keyLog: context.keyLog)
        self.ssl = try Self.make(context.pointer, self.state)
        self.isServer = true
        SSL_set_accept_state(self.ssl)
    }

    /// The client's end. `receive` with no octets makes the first message.
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

    /// Takes ciphertext and goes as far as it leads: the handshake first, then plaintext.
    ///
    /// - Parameters:
    ///   - ciphertext: what came from the peer; may be empty. It is read to its end, unless the connection fails.
    ///   - room: called for each piece of plaintext with the least room to offer; calls back with that room, and is told how many octets
    ///     of it were filled.
    public mutating func receive(
        _ ciphertext: UnsafeRawBufferPointer, room: (Int, (UnsafeMutableRawBufferPointer) -> Int) -> Void
    ) -> TLSProgress {
        if let failure { return .failed(failure) }
        if let hello = self.state.hello, !self.state.isHelloAnswered { return self.keep(ciphertext, behind: hello) }
        guard self.pending.isEmpty else {
            self.pending.append(contentsOf: ciphertext)
            var input: [UInt8] = []
            swap(&input, &self.pending)
            return input.withUnsafeBytes { self.go($0, room) }
        }
        return self.go(ciphertext, room)
    }

    private mutating func go(
        _ ciphertext: UnsafeRawBufferPointer, _ room: (Int, (UnsafeMutableRawBufferPointer) -> Int) -> Void
    ) -> TLSProgress {
        self.state.input = ciphertext
        defer { self.state.input = UnsafeRawBufferPointer(start: nil, count: 0) }
        if !self.isEstablished {
            let progress = self.handshake()
            guard self.isEstablished else {
                if case .hello(let hello) = progress { return self.keep(self.state.input, behind: hello) }
                return progress
            }
        }
        return self.read(room)
    }

    private mutating func keep(_ ciphertext: UnsafeRawBufferPointer, behind hello: ClientHello) -> TLSProgress {
        guard self.pending.count + ciphertext.count <= Self.pendingLimit else {
            let failure = TLSFailure(cause: .malformed, message: "it sends on without an answer to its hello")
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
        // SSL_ERROR_SSL and _SYSCALL; nothing else is asked for by what is set up here.
        default:
            return self.fail()
        }
    }

    private mutating func read(_ room: (Int, (UnsafeMutableRawBufferPointer) -> Int) -> Void) -> TLSProgress {
        while !self.isEnded, !self.state.input.isEmpty || SSL_pending(self.ssl) > 0 {
            var status: Int32 = 0
            ERR_clear_error()
            // Plaintext is never longer than its ciphertext, and a record at most 16 KiB (RFC 8446, 5.1).
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

    /// The transport's end came; without close_notify before it, what was read may be a part only (RFC 8446, 6.1).
    public mutating func inputEnded() -> TLSProgress {
        guard !self.isEnded else { return .ended }
        let message =
            self.isEstablished ? "it closed the connection without close_notify" : "it closed the connection inside the handshake"
        let failure = self.failure ?? TLSFailure(cause: .closed, message: message)
        self.failure = failure
        return .failed(failure)
    }

    // MARK: The hello

    /// Server: goes on behind the hello with this certificate; `receive` with no octets does the rest.
    ///
    /// - Parameters:
    ///   - protocolName: the application protocol to speak, one of the hello's; nil leaves the extension unanswered.
    ///   - refusesProtocols: whether a client that offered protocols is told that none of them is spoken (RFC 7301, 3.2).
    public mutating func answer(_ leaf: Leaf, protocolName: String?, refusesProtocols: Bool = false) throws(TLSFailure) {
        self.state.isHelloAnswered = true
        self.state.chosenProtocol = protocolName.map { Array($0.utf8) }
        self.state.refusesProtocols = refusesProtocols
        try leaf.use(in: self.ssl)
    }

    // MARK: Output

    /// Encrypts plaintext into room that the caller offers; only between the handshake and `closeOutput`, whatever the peer has ended.
    ///
    /// What `takeOutput` has to give goes out before it. Ciphertext that finds no room is behind it, in `takeOutput` again.
    ///
    /// - Parameter room: called once with the room that is wanted; calls back with it, and is told how many octets of it were filled.
    public mutating func send(
        _ plaintext: UnsafeRawBufferPointer, room: (Int, (UnsafeMutableRawBufferPointer) -> Int) -> Void
    ) throws(TLSFailure) {
        if let failure { throw failure }
        guard self.isEstablished, !self.isOutputEnded else {
            // The connection takes no harm: the peer may still have something to say.
            throw TLSFailure(
                cause: .other, message: self.isEstablished ? "our side has been ended already" : "the handshake is not through yet")
        }
        guard !plaintext.isEmpty else { return }
        var status: Int32 = 0
        // 5 octets before and at most 64 behind a record of up to 16 KiB (RFC 5246, 6.2.3; RFC 8446, 5.2), and one record more for an
        // update of keys.
        room(plaintext.count + (plaintext.count / 16_384 + 2) * 80) { space in
            self.state.room = space
            ERR_clear_error()
            status = SSL_write(self.ssl, plaintext.baseAddress, Int32(clamping: plaintext.count))
            let filled = space.count - self.state.room.count
            self.state.room = UnsafeMutableRawBufferPointer(start: nil, count: 0)
            return filled
        }
        // Nothing here lets OpenSSL write a part only, and no caller has 2 GiB in one piece.
        guard Int(status) == plaintext.count else { throw self.fail() }
    }

    /// Ends our side with close_notify; nothing can be sent after.
    public mutating func closeOutput() {
        guard self.isEstablished, !self.isOutputEnded, self.failure == nil else { return }
        self.isOutputEnded = true
        ERR_clear_error()
        _ = SSL_shutdown(self.ssl)
        ERR_clear_error()
    }

    public var pendingOutput: Int { self.state.output.count }

    /// Hands out the ciphertext that is to be sent.
    public mutating func takeOutput<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        self.state.output.take(body)
    }
}

/// How far a TLS connection came with the ciphertext it was given.
public enum TLSProgress: Sendable, Hashable {
    /// All was read; more has to come from the peer.
    case needsInput
    /// A server has read the client's first message and waits for `TLSConnection.answer`.
    case hello(ClientHello)
    /// The peer ended its side with close_notify (RFC 8446, 6.1).
    case ended
    /// The connection is of no more use; what is still to be sent tells the peer why.
    case failed(TLSFailure)
}

/// What both ends agreed on in the handshake; before it there is nothing to tell.
extension TLSConnection {
    /// As OpenSSL spells it: `TLSv1.3`.
    public var version: String { SSL_get_version(self.ssl).map { String(cString: $0) } ?? "" }

    /// `TLS_AES_256_GCM_SHA384`, the name of the standard where it has one.
    public var cipher: String {
        guard let cipher = SSL_get_current_cipher(self.ssl) else { return "" }
        return (SSL_CIPHER_standard_name(cipher) ?? SSL_CIPHER_get_name(cipher)).map { String(cString: $0) } ?? ""
    }

    /// The application protocol agreed on (RFC 7301).
    public var protocolName: String? {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(self.ssl, &name, &length)
        guard let name, length > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
    }

    /// Whether the handshake took up an earlier session (RFC 8446, 2.2).
    public var isResumed: Bool { SSL_session_reused(self.ssl) == 1 }

    /// The server's chain as it was sent, its own certificate first; empty on a server's side.
    public func peerCertificates() -> [CertificateSummary] {
        guard !self.isServer, let chain = SSL_get_peer_cert_chain(self.ssl) else { return [] }
        return (0..<max(0, wiretape_certificates_count(chain))).compactMap { index in
            wiretape_certificates_at(chain, index).map { CertificateSummary($0) }
        }
    }
}
