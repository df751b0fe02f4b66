/// What becomes of the client's connection after a response.
public enum ClientConnection: Sendable, Hashable {
    case keepAlive, close
}
