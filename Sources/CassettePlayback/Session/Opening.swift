/// What a session says of a request whose head has come.
public enum Opening: Sendable {
    /// The body cannot change this.
    case decided(Decision)
    /// It depends on the body: feed it to the pending request's `body`, then ask `CassetteSession.decide`.
    case needsBody(PendingRequest)
}
