internal import Foundation

/// How a request ended: the same for all its handlers.
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

    /// Never empty: the last attempt is the one whose answer counts.
    var last: RequestAttempt { self.attempts[self.attempts.count - 1] }

    /// Nil where no answer came.
    var body: Data? { self.last.response == nil ? nil : self.data }
}
