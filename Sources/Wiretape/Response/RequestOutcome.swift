internal import Foundation

/// One attempt of a request, with its redirects.
public struct RequestAttempt: Sendable {
    /// The last request sent; nil if none was.
    public var request: TransportRequest?
    /// The answer of the last hop; nil if none arrived.
    public var response: HTTPResponse?
    /// The redirects followed, in order.
    public var redirects: [RedirectHop]
    /// Why another attempt was made, or why the request failed.
    public var error: WiretapeError?
}

/// A redirect that was followed.
public struct RedirectHop: Sendable {
    /// The request as sent.
    public var request: TransportRequest
    /// The answer with the redirect.
    public var response: HTTPResponse

    public init(request: TransportRequest, response: HTTPResponse) {
        self.request = request
        self.response = response
    }
}

/// How a request ended, shared by all its handlers.
final class RequestOutcome: Sendable {
    let id: UUID
    let attempts: [RequestAttempt]
    let data: Data
    let fileURL: URL?
    let trailers: HTTPHeaders
    let metrics: RequestMetrics
    /// On the session's clock.
    let start: Duration
    let error: WiretapeError?

    init(
        id: UUID, attempts: [RequestAttempt], data: Data, fileURL: URL?, trailers: HTTPHeaders, metrics: RequestMetrics,
        start: Duration, error: WiretapeError?
    ) {
        self.id = id
        self.attempts = attempts
        self.data = data
        self.fileURL = fileURL
        self.trailers = trailers
        self.metrics = metrics
        self.start = start
        self.error = error
    }

    /// The last attempt, whose answer is the request's. There is always one.
    var last: RequestAttempt { self.attempts[self.attempts.count - 1] }

    /// Nil if no answer arrived.
    var body: Data? { self.last.response == nil ? nil : self.data }
}
