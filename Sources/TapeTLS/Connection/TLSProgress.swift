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
