internal import COpenSSL

/// What OpenSSL's callbacks read and change of one connection.
///
/// Reached through pointers that OpenSSL keeps; `TLSConnection` keeps it alive as long as these. Not Sendable.
final class ConnectionState {
    /// The ciphertext of the call that is running; nothing of it is kept beyond that call.
    var input = UnsafeRawBufferPointer(start: nil, count: 0)
    /// What the handshake and alerts have to send.
    var output = CiphertextBuffer()
    /// Room that the running call's ciphertext goes to; when it is full, the rest goes to `output`.
    var room = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// Server: the hello that waits for an answer.
    var hello: ClientHello?
    var isHelloAnswered = false
    /// Server: the application protocol to choose; nil chooses none.
    var chosenProtocol: [UInt8]?
    /// Server: a client that offers protocols, none of which is spoken here, is told so.
    var refusesProtocols = false
    /// Client: how the server is judged.
    var policy = PeerPolicy.defaultEvaluation()
    /// Client: the host that the certificate has to be for.
    var host = ""
    /// Client: what the judgement found.
    var verdict: TLSFailure?
    /// Client: the server asked for a certificate, and there was none.
    var lacksCertificate = false
    var sessions: TLSSessionCache?
    var sessionKey = ""
    let keyLog: KeyLog?

    init(keyLog: KeyLog?) {
        self.keyLog = keyLog
    }

    /// The state behind a connection that OpenSSL hands to a callback.
    static func of(_ ssl: OpaquePointer?) -> ConnectionState? {
        guard let ssl, let pointer = SSL_get_ex_data(ssl, 0) else { return nil }
        return Unmanaged<ConnectionState>.fromOpaque(pointer).takeUnretainedValue()
    }

    func attach(to ssl: OpaquePointer) {
        SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
    }
}

/// Ciphertext that waits to be sent, in memory of its own that is given back when it is empty: idle connections hold none.
struct CiphertextBuffer: ~Copyable {
    private var base: UnsafeMutableRawPointer?
    private var capacity = 0
    private(set) var count = 0

    init() {}

    deinit {
        self.base?.deallocate()
    }

    /// Makes room for so many more octets.
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

    /// Hands out everything, and is empty after.
    mutating func take<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        let result = body(UnsafeRawBufferPointer(start: self.base, count: self.count))
        self.base?.deallocate()
        self.base = nil
        self.capacity = 0
        self.count = 0
        return result
    }
}
