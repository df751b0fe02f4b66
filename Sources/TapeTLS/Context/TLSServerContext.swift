internal import COpenSSL

/// The settings of server connections: versions, session tickets, callbacks.
///
/// Has no certificate: each connection gets its own from `TLSConnection.answer`.
// SAFETY: the context is never changed after init; OpenSSL counts its references atomically and locks what it keeps in it.
public struct TLSServerContext: ~Copyable, @unchecked Sendable {
    let pointer: OpaquePointer
    let keyLog: KeyLog?

    public init(minimum: TLSVersion = .tls12, keyLog: KeyLog? = nil) throws(TLSFailure) {
        let context = try ContextSettings.make(TLS_server_method(), minimum: minimum, keyLog: keyLog)
        self.pointer = context
        self.keyLog = keyLog
        wiretape_ctx_prefer_own_order(context)
        // A ticket names the context that it is for (RFC 5077, 4). One is enough to resume.
        let name: [UInt8] = Array("wiretape".utf8)
        SSL_CTX_set_session_id_context(context, name, UInt32(name.count))
        SSL_CTX_set_num_tickets(context, 1)
        _ = wiretape_ctx_set_session_cache_mode(context, Int(SSL_SESS_CACHE_OFF))
        SSL_CTX_set_client_hello_cb(context, { ssl, _, _ in Self.read(ssl) }, nil)
        // A session keeps its server name only if this callback is set.
        _ = wiretape_ctx_set_servername_callback(context) { _, _, _ in SSL_TLSEXT_ERR_OK }
        SSL_CTX_set_session_ticket_cb(context, nil, { ssl, session, _, _, status, _ in Self.checkTicket(ssl, session, status) }, nil)
        SSL_CTX_set_alpn_select_cb(
            context,
            { ssl, chosen, length, offered, count, _ in
                guard let name = Self.choose(ssl, UnsafeBufferPointer(start: offered, count: Int(count))) else {
                    return ConnectionState.of(ssl)?.refusesProtocols == true ? SSL_TLSEXT_ERR_ALERT_FATAL : SSL_TLSEXT_ERR_NOACK
                }
                chosen?.pointee = name.baseAddress
                length?.pointee = UInt8(name.count)
                return SSL_TLSEXT_ERR_OK
            }, nil)
    }

    deinit {
        SSL_CTX_free(self.pointer)
    }

    /// Pauses the handshake after the hello until it is answered.
    private static func read(_ ssl: OpaquePointer?) -> Int32 {
        guard let state = ConnectionState.of(ssl) else { return SSL_CLIENT_HELLO_ERROR }
        guard !state.isHelloAnswered else { return SSL_CLIENT_HELLO_SUCCESS }
        state.hello = ClientHello(
            serverNameExtension: self.body(ssl, TLSEXT_TYPE_server_name),
            protocolsExtension: self.body(ssl, TLSEXT_TYPE_application_layer_protocol_negotiation))
        return SSL_CLIENT_HELLO_RETRY
    }

    /// Accepts a ticket only for the server name it was issued for (RFC 6066, 3). OpenSSL would accept it for any.
    private static func checkTicket(_ ssl: OpaquePointer?, _ session: OpaquePointer?, _ status: SSL_TICKET_STATUS) -> SSL_TICKET_RETURN {
        let usual: SSL_TICKET_RETURN
        switch status {
        case SSL_TICKET_SUCCESS: usual = SSL_TICKET_RETURN_USE
        case SSL_TICKET_SUCCESS_RENEW: usual = SSL_TICKET_RETURN_USE_RENEW
        // SSL_TICKET_EMPTY and _NO_DECRYPT. The fatal ones never reach the callback.
        default: return SSL_TICKET_RETURN_IGNORE_RENEW
        }
        guard let session, let hello = ConnectionState.of(ssl)?.hello else { return SSL_TICKET_RETURN_IGNORE_RENEW }
        let name = SSL_SESSION_get0_hostname(session).map { String(cString: $0).lowercased() }
        return name == hello.serverName ? usual : SSL_TICKET_RETURN_IGNORE_RENEW
    }

    private static func body(_ ssl: OpaquePointer?, _ kind: Int32) -> UnsafeRawBufferPointer? {
        var bytes: UnsafePointer<UInt8>?
        var count = 0
        guard SSL_client_hello_get0_ext(ssl, UInt32(kind), &bytes, &count) == 1 else { return nil }
        return UnsafeRawBufferPointer(start: bytes, count: count)
    }

    /// Points into the client's own list, which outlives the callback.
    private static func choose(_ ssl: OpaquePointer?, _ offered: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
        guard let name = ConnectionState.of(ssl)?.chosenProtocol else { return nil }
        var next = 0
        while next < offered.count {
            let end = next + 1 + Int(offered[next])
            guard end <= offered.count else { return nil }
            let candidate = UnsafeBufferPointer(rebasing: offered[(next + 1)..<end])
            if candidate.elementsEqual(name) { return candidate }
            next = end
        }
        return nil
    }
}
