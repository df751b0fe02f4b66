internal import TapeTLS

/// Hears how a TLS handshake goes; called on the event loop.
protocol TLSHandlerOwner: AnyObject {
    /// A server's handshake waits for `TLSHandler.answer`.
    func tlsHello(_ hello: ClientHello)
    /// The handshake is through; plaintext follows.
    func tlsEstablished()
    /// The handshake failed. What the peer has to be told was written; the connection is still open.
    func tlsFailed(_ failure: TLSFailure)
}
