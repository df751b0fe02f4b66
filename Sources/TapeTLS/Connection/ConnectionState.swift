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
