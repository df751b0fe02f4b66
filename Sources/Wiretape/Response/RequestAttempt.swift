/// One attempt of a request: its redirects and what came of it.
public struct RequestAttempt: Sendable {
    /// The last that went out; nil where none did.
    public var request: TransportRequest?
    /// Of the last hop; nil where none came.
    public var response: HTTPResponse?
    /// In order.
    public var redirects: [RedirectHop]
    /// Why it was not the last, or why the request failed.
    public var error: WiretapeError?
}
