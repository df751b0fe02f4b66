internal import COpenSSL

/// The state of one connection that OpenSSL's callbacks read and change.
///
/// OpenSSL keeps unretained pointers to it, and `TLSConnection` keeps it alive for as long. Not Sendable.
final class ConnectionState {
    /// The ciphertext of the current call. Points into the caller's memory, so it is empty after the call.
    var input = UnsafeRawBufferPointer(start: nil, count: 0)
    /// Ciphertext to send that did not fit into `room`, such as that of the handshake and of alerts.
    var output = CiphertextBuffer()
    /// The space for the current call's ciphertext. Anything that does not fit goes to `output`.
    var room = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// Server: the client's hello, once it has been read.
    var hello: ClientHello?
    var isHelloAnswered = false
    /// Server: the application protocol to choose; nil chooses none.
    var chosenProtocol: [UInt8]?
    /// Server: a client that offers only unsupported protocols gets an alert.
    var refusesProtocols = false
    /// Client: how the server's certificates are checked.
    var policy = PeerPolicy.defaultEvaluation()
    /// Client: the host that the certificate must be valid for.
    var host = ""
    /// Client: why the certificates were refused; nil if they were not.
    var verdict: TLSFailure?
    /// Client: the server asked for a certificate, but the connection has none.
    var lacksCertificate = false
    var sessions: TLSSessionCache?
    var sessionKey = ""
    let keyLog: KeyLog?

    init(keyLog: KeyLog?) {
        self.keyLog = keyLog
    }

    /// The state of a connection that OpenSSL passes to a callback.
    static func of(_ ssl: OpaquePointer?) -> ConnectionState? {
        guard let ssl, let pointer = SSL_get_ex_data(ssl, 0) else { return nil }
        return Unmanaged<ConnectionState>.fromOpaque(pointer).takeUnretainedValue()
    }

    func attach(to ssl: OpaquePointer) {
        SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
    }
}

/// Ciphertext to send. Its memory is freed when it is taken, so that idle connections hold none.
struct CiphertextBuffer: ~Copyable {
    private var base: UnsafeMutableRawPointer?
    private var capacity = 0
    private(set) var count = 0

    init() {}

    deinit {
        self.base?.deallocate()
    }

    mutating func reserve(_ additional: Int) {
        guard self.count + additional > self.capacity else { return }
        let capacity = max(self.count + additional, 2 * self.capacity, 512)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        if let base {
            larger.copyMemory(from: base, byteCount: self.count)
            base.deallocate()
        }
        self.base = larger
        self.capacity = capacity
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, !bytes.isEmpty else { return }
        self.reserve(bytes.count)
        self.base?.advanced(by: self.count).copyMemory(from: source, byteCount: bytes.count)
        self.count += bytes.count
    }

    /// Passes all bytes to `body`, then empties the buffer.
    mutating func take<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        let result = body(UnsafeRawBufferPointer(start: self.base, count: self.count))
        self.base?.deallocate()
        self.base = nil
        self.capacity = 0
        self.count = 0
        return result
    }
}

/// A connection's BIO: OpenSSL reads the current call's input in place and writes to its output.
///
/// Unlike OpenSSL's memory BIO, it does not copy input before OpenSSL reads it.
enum ConnectionBIO {
    // SAFETY: created once and never changed after that.
    private nonisolated(unsafe) static let method: OpaquePointer? = {
        guard let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "wiretape") else { return nil }
        BIO_meth_set_read(method) { bio, target, length in
            guard let bio, let target, length > 0, let state = Self.state(of: bio) else { return -1 }
            wiretape_bio_clear_retry(bio)
            guard !state.input.isEmpty else {
                wiretape_bio_retry_read(bio)
                return -1
            }
            let count = min(Int(length), state.input.count)
            // SAFETY: the input is not empty, so it has an address.
            UnsafeMutableRawPointer(target).copyMemory(from: state.input.baseAddress.unsafelyUnwrapped, byteCount: count)
            state.input = UnsafeRawBufferPointer(rebasing: state.input[count...])
            return Int32(count)
        }
        BIO_meth_set_write(method) { bio, source, length in
            guard let bio, let source, length > 0, let state = Self.state(of: bio) else { return -1 }
            wiretape_bio_clear_retry(bio)
            let bytes = UnsafeRawBufferPointer(start: source, count: Int(length))
            guard bytes.count <= state.room.count, state.output.count == 0 else {
                state.output.append(bytes)
                return length
            }
            state.room.copyMemory(from: bytes)
            state.room = UnsafeMutableRawBufferPointer(rebasing: state.room[bytes.count...])
            return length
        }
        BIO_meth_set_ctrl(method) { _, command, _, _ in
            // The caller of `takeOutput` flushes. OpenSSL needs no other command.
            command == BIO_CTRL_FLUSH ? 1 : 0
        }
        return method
    }()

    /// - Returns: a BIO that the caller owns; nil if out of memory.
    static func make(_ state: ConnectionState) -> OpaquePointer? {
        guard let method, let bio = BIO_new(method) else { return nil }
        BIO_set_data(bio, Unmanaged.passUnretained(state).toOpaque())
        BIO_set_init(bio, 1)
        return bio
    }

    private static func state(of bio: OpaquePointer) -> ConnectionState? {
        BIO_get_data(bio).map { Unmanaged<ConnectionState>.fromOpaque($0).takeUnretainedValue() }
    }
}
