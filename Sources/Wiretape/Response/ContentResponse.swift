public import Foundation
public import TapeBytes

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension HTTPSession {
    /// The result of an ``HTTPSession/ContentRequest``: the response, its metrics, and the value made of it.
    ///
    /// Has the body as ``data`` or ``fileURL``, depending on the kind of request.
    public struct ContentResponse<Content: Sendable, Value: Sendable>: Sendable {
        let outcome: RequestOutcome
        public let result: Result<Value, WiretapeError>
        /// The times of start, first byte, each chunk, end and serialization, for all attempts and redirects.
        public let metrics: RequestMetrics

        init(_ outcome: RequestOutcome, _ result: Result<Value, WiretapeError>, _ metrics: RequestMetrics) {
            self.outcome = outcome
            self.result = result
            self.metrics = metrics
        }

        /// Nil if there is an error.
        public var value: Value? { try? self.result.get() }

        /// The error of the request, its validation or the serializer.
        public var error: WiretapeError? {
            guard case .failure(let error) = self.result else { return nil }
            return error
        }

        // MARK: Answer

        /// The head of the response, exactly as it arrived; nil if none did.
        public var response: Response? { self.outcome.last.response }

        /// A view that joins duplicate fields and rewrites their names.
        public var httpURLResponse: HTTPURLResponse? { self.response?.httpURLResponse }

        /// The URL of the last hop.
        public var url: URL? { self.response?.url ?? self.outcome.last.request?.url }

        /// The response's fields, in order with duplicates.
        public var headers: Headers { self.response?.headers ?? Headers() }

        /// The fields after the body (RFC 9110, 6.5).
        public var trailers: Headers { self.outcome.trailers }

        /// Where the response comes from: the network, or an exchange of a cassette.
        public var source: ExchangeSource? { self.response?.source }

        // MARK: Request

        /// The request as last sent. A `URLRequest` keeps neither the order nor the duplicates of fields.
        public var request: URLRequest? { self.sentRequest.map { URLRequest($0) } }

        /// The request as last sent; nil if none was sent.
        public var sentRequest: TransportRequest? { self.outcome.last.request }

        /// The redirects that were followed in the last attempt.
        public var redirects: [RedirectHop] { self.outcome.last.redirects }

        /// All attempts, including the last.
        public var attempts: [RequestAttempt] { self.outcome.attempts }

        public var timeline: RequestMetrics.Timeline { self.metrics.timeline }

        // MARK: Changing the value

        /// The same response with a value made of the value.
        public func map<Other: Sendable>(_ transform: (Value) -> Other) -> ContentResponse<Content, Other> {
            ContentResponse<Content, Other>(self.outcome, self.result.map(transform), self.metrics)
        }

        /// The same response with a value made of the value. An error the closure throws gets the code `serialization`, unless it is a
        /// `WiretapeError`.
        public func tryMap<Other: Sendable>(_ transform: (Value) throws -> Other) -> ContentResponse<Content, Other> {
            let result = self.result.flatMap { value in
                Result { try transform(value) }.mapError { WiretapeError($0, as: .serialization) }
            }
            return ContentResponse<Content, Other>(self.outcome, result, self.metrics)
        }

        public func mapError(_ transform: (WiretapeError) -> WiretapeError) -> ContentResponse<Content, Value> {
            ContentResponse(self.outcome, self.result.mapError(transform), self.metrics)
        }
    }
}

extension HTTPSession.ContentResponse where Value == Content? {
    /// Without a serializer.
    init(_ outcome: RequestOutcome, _ content: Content?) {
        self.init(outcome, outcome.error.map { .failure($0) } ?? .success(content), outcome.metrics)
    }
}

extension HTTPSession.ContentResponse: CustomStringConvertible, CustomDebugStringConvertible {
    /// The result in one line.
    public var description: String { "\(self.result)" }

    /// Request, response, redirects, times and result, one line each, without the body and without values of header fields.
    public var debugDescription: String {
        ResponseText.lines(self.outcome, metrics: self.metrics, result: self.description).joined(separator: "\n")
    }
}

extension HTTPSession {
    /// The response of a request that collects its response in memory.
    public typealias DataResponse<Value: Sendable> = ContentResponse<Data, Value>
}

extension HTTPSession.ContentResponse where Content == Data {
    /// The whole body, decoded; nil if no response arrived.
    public var data: Data? { self.outcome.body }
}

extension HTTPSession {
    /// The response of a download.
    public typealias DownloadResponse<Value: Sendable> = ContentResponse<URL, Value>
}

extension HTTPSession.ContentResponse where Content == URL {
    /// The URL of the file; nil if the request failed.
    public var fileURL: URL? { self.outcome.fileURL }

    /// See ``HTTPSession/DownloadRequest/resumeData``.
    public var resumeData: Data? { self.outcome.resumption?() }
}

/// The lines of a response's debug description.
enum ResponseText {
    static func lines(_ outcome: RequestOutcome, metrics: RequestMetrics, result: String) -> [String] {
        let attempts = outcome.attempts.enumerated().flatMap { number, attempt in
            self.lines(attempt, number: number, of: outcome.attempts.count)
        }
        let file = outcome.fileURL.map { ["[File]: \($0.path)"] } ?? []
        return attempts + ["[Body]: \(outcome.data.count) bytes"] + file + ["[Metrics]: \(metrics)", "[Result]: \(result)"]
    }

    private static func lines(_ attempt: HTTPSession.RequestAttempt, number: Int, of count: Int) -> [String] {
        let prefix = count > 1 ? "[Attempt \(number + 1)] " : ""
        let redirects = attempt.redirects.map { "\(prefix)[Redirect]: \(self.line($0.request)) \($0.response.status)" }
        let request = "\(prefix)[Request]: \(attempt.request.map(self.line) ?? "none sent")"
        let response = "\(prefix)[Response]: \(attempt.response.map(self.line) ?? "none received")"
        return redirects + [request, response] + (attempt.error.map { ["\(prefix)[Error]: \($0.message)"] } ?? [])
    }

    private static func line(_ request: TransportRequest) -> String { "\(request.method) \(LogURL.text(request.url))" }

    private static func line(_ response: HTTPSession.Response) -> String {
        "\(response.status)\(response.reason.isEmpty ? "" : " \(response.reason)"), \(response.headers.count) header fields, \(self.word(response.source))"
    }

    private static func word(_ source: ExchangeSource) -> String {
        switch source {
        case .live: "from the network"
        case .recorded(let cassette, let id): "from the network, recorded as exchange \(id) of \"\(cassette)\""
        case .replayed(let cassette, let id): "exchange \(id) of \"\(cassette)\""
        case .stub: "from a stub"
        }
    }
}

extension HTTPSession {
    /// One attempt of a request, with its redirects.
    public struct RequestAttempt: Sendable {
        /// The last request sent; nil if none was sent.
        public var request: TransportRequest?
        /// The response of the last hop; nil if none arrived.
        public var response: Response?
        /// The redirects followed, in order.
        public var redirects: [RedirectHop]
        /// Why another attempt was made, or why the request failed.
        public var error: WiretapeError?
    }

    /// A redirect that was followed.
    public struct RedirectHop: Sendable {
        /// The request as sent.
        public var request: TransportRequest
        /// The response with the redirect.
        public var response: Response

        public init(request: TransportRequest, response: Response) {
            self.request = request
            self.response = response
        }
    }
}

/// How a request ended, shared by all its handlers.
final class RequestOutcome: Sendable {
    let id: UUID
    let attempts: [HTTPSession.RequestAttempt]
    let data: Data
    let fileURL: URL?
    let trailers: HTTPSession.Headers
    let metrics: RequestMetrics
    /// On the session's clock.
    let start: Duration
    let error: WiretapeError?
    /// Makes the resume data of a download; nil if it cannot be continued.
    let resumption: (@Sendable () -> Data?)?

    init(
        id: UUID, attempts: [HTTPSession.RequestAttempt], data: Data, fileURL: URL?, trailers: HTTPSession.Headers, metrics: RequestMetrics,
        start: Duration, error: WiretapeError?, resumption: (@Sendable () -> Data?)? = nil
    ) {
        self.id = id
        self.attempts = attempts
        self.data = data
        self.fileURL = fileURL
        self.trailers = trailers
        self.metrics = metrics
        self.start = start
        self.error = error
        self.resumption = resumption
    }

    /// The last attempt, whose response is the request's. There is always one.
    var last: HTTPSession.RequestAttempt { self.attempts[self.attempts.count - 1] }

    /// Nil if no response arrived.
    var body: Data? { self.last.response == nil ? nil : self.data }
}
