/// A redirect that was followed.
public struct RedirectHop: Sendable {
    /// As it went out.
    public var request: TransportRequest
    /// The 3xx that said where to go.
    public var response: HTTPResponse

    public init(request: TransportRequest, response: HTTPResponse) {
        self.request = request
        self.response = response
    }
}
