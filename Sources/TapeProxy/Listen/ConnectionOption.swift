/// The Connection field of an answer of our own (RFC 9112, 9.3).
enum ConnectionOption: Sendable {
    /// HTTP/1.1 keeps the connection without a word.
    case none
    /// An HTTP/1.0 client has to be told.
    case keepAlive
    case close
}
