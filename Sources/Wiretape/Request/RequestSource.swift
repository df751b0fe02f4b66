/// Makes a request's draft when the request starts.
struct RequestSource: Sendable {
    /// Whether it reads files or streams: not on a caller's thread then.
    var isBlocking = false
    var make: @Sendable () throws -> RequestDraft
}
