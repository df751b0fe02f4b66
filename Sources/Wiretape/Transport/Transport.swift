/// Sends one exchange at a time on its way and answers with events.
///
/// Knows one request and one response: redirects, retries, cookies, credentials, timeouts and progress are the session's, so that they are
/// the same whatever carries the exchange.
public protocol Transport: Sendable {
    /// Starts an exchange.
    ///
    /// - Parameters:
    ///   - request: all of it: a transport adds nothing but what the wire needs (Host, Content-Length).
    ///   - receive: takes the events, one after the other and never two at a time, on any thread, and perhaps before `start` returns.
    ///     The order is `sent`, `interim`, `head`, `chunk`, `trailers`, `metrics`, then `end`, or `failed` at any moment; nothing comes
    ///     behind those two. An answer of `pause` asks for nothing more until `TransportTask.resume`; what was on its way may still come.
    func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask
}
