/// What is to be done with an answer whose head is there.
public enum ResponseDisposition: Sendable, Hashable {
    case allow
    /// Cancels the request before any of the body is taken.
    case cancel
}
