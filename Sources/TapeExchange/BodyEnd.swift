/// What the end of the input meant for a body.
public enum BodyEnd: Sendable, Hashable {
    case complete
    /// Bytes are missing: the body must never pass as whole (RFC 9112, 8).
    case cut
}
