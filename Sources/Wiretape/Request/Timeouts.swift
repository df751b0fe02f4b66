/// How long a request may take. Kept by the session's own clock, sub-second times too.
public struct Timeouts: Sendable, Hashable {
    /// While something is waited for: the head, the next octets, room for octets of the body. Nil for no limit.
    ///
    /// A `URLRequest` whose `timeoutInterval` is another than Foundation's 60 seconds overrides it. Does not run while the request is
    /// suspended or its reader takes nothing.
    public var idle: Duration?
    /// From the start of the request to the last octet of its answer: redirects, retries and their waits included. Nil for no limit.
    public var total: Duration?

    public init(idle: Duration? = .seconds(60), total: Duration? = nil) {
        self.idle = idle
        self.total = total
    }
}
