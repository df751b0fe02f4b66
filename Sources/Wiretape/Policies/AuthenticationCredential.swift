/// What authenticates requests: a token and what belongs to it.
public protocol AuthenticationCredential: Sendable {
    /// Whether it is refreshed before the next request goes out: it has expired, or is about to.
    var requiresRefresh: Bool { get }
}
