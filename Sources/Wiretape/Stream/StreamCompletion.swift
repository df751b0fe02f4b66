/// How a streamed request ended.
public struct StreamCompletion: Sendable {
    /// As it went out last; nil where nothing did.
    public var request: TransportRequest?
    /// Nil where none came.
    public var response: HTTPResponse?
    public var trailers: HTTPHeaders
    public var metrics: RequestMetrics
    /// Nil where the answer is whole.
    public var error: WiretapeError?

    init(_ outcome: RequestOutcome) {
        self.request = outcome.last.request
        self.response = outcome.last.response
        self.trailers = outcome.trailers
        self.metrics = outcome.metrics
        self.error = outcome.error
    }
}
