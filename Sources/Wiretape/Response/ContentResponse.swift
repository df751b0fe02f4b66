public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// What came of a request whose answer is kept whole: the answer, how it came, and the value made of it.
///
/// Has the body itself as ``data`` or ``fileURL``, after the kind of the request.
public struct ContentResponse<Content: Sendable, Value: Sendable>: Sendable {
    let outcome: RequestOutcome
    public let result: Result<Value, WiretapeError>
    /// Start, first octet, each chunk, end and the serializer's end, over all attempts and redirects.
    public let metrics: RequestMetrics

    init(_ outcome: RequestOutcome, _ result: Result<Value, WiretapeError>, _ metrics: RequestMetrics) {
        self.outcome = outcome
        self.result = result
        self.metrics = metrics
    }

    /// Nil where there is an error.
    public var value: Value? { try? self.result.get() }

    /// Of the request, its validation or the serializer.
    public var error: WiretapeError? {
        guard case .failure(let error) = self.result else { return nil }
        return error
    }

    // MARK: Answer

    /// The head of the answer, exactly as it came; nil where none did.
    public var response: HTTPResponse? { self.outcome.last.response }

    /// A view that joins duplicates of fields and rewrites names.
    public var httpURLResponse: HTTPURLResponse? { self.response?.httpURLResponse }

    /// Of the last hop.
    public var url: URL? { self.response?.url ?? self.outcome.last.request?.url }

    /// All fields, in order.
    public var headers: HTTPHeaders { self.response?.headers ?? HTTPHeaders() }

    /// What stood behind the body (RFC 9110, 6.5).
    public var trailers: HTTPHeaders { self.outcome.trailers }

    /// Where it came from: the network, or which exchange of which cassette.
    public var source: ExchangeSource? { self.response?.source }

    // MARK: Request

    /// As it went out last; a `URLRequest` keeps neither order nor duplicates of fields.
    public var request: URLRequest? { self.sentRequest.map { URLRequest($0) } }

    /// As it went out last; nil where nothing did.
    public var sentRequest: TransportRequest? { self.outcome.last.request }

    /// The redirects that were followed in the last attempt.
    public var redirects: [RedirectHop] { self.outcome.last.redirects }

    /// All attempts, the last included.
    public var attempts: [RequestAttempt] { self.outcome.attempts }

    public var timeline: Timeline { self.metrics.timeline }

    // MARK: Changing the value

    /// With another value made of the value.
    public func map<Other: Sendable>(_ transform: (Value) -> Other) -> ContentResponse<Content, Other> {
        ContentResponse<Content, Other>(self.outcome, self.result.map(transform), self.metrics)
    }

    /// What the closure throws is an error of the code `serialization`, unless it is a `WiretapeError`.
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

extension ContentResponse where Value == Content? {
    /// Without a serializer.
    init(_ outcome: RequestOutcome, _ content: Content?) {
        self.init(outcome, outcome.error.map { .failure($0) } ?? .success(content), outcome.metrics)
    }
}

extension ContentResponse: CustomStringConvertible, CustomDebugStringConvertible {
    /// The result in a line.
    public var description: String { "\(self.result)" }

    /// Request, answer, redirects, times and result, a line each. Has no body, and no values of header fields.
    public var debugDescription: String {
        ResponseText.lines(self.outcome, metrics: self.metrics, result: self.description).joined(separator: "\n")
    }
}

/// An answer and how it came, for people.
enum ResponseText {
    static func lines(_ outcome: RequestOutcome, metrics: RequestMetrics, result: String) -> [String] {
        let attempts = outcome.attempts.enumerated().flatMap { number, attempt in
            self.lines(attempt, number: number, of: outcome.attempts.count)
        }
        let file = outcome.fileURL.map { ["[File]: \($0.path)"] } ?? []
        return attempts + ["[Body]: \(outcome.data.count) octets"] + file + ["[Metrics]: \(metrics)", "[Result]: \(result)"]
    }

    private static func lines(_ attempt: RequestAttempt, number: Int, of count: Int) -> [String] {
        let prefix = count > 1 ? "[Attempt \(number + 1)] " : ""
        let redirects = attempt.redirects.map { "\(prefix)[Redirect]: \(self.line($0.request)) \($0.response.status)" }
        let request = "\(prefix)[Request]: \(attempt.request.map(self.line) ?? "none went out")"
        let response = "\(prefix)[Response]: \(attempt.response.map(self.line) ?? "none came")"
        return redirects + [request, response] + (attempt.error.map { ["\(prefix)[Error]: \($0.message)"] } ?? [])
    }

    private static func line(_ request: TransportRequest) -> String { "\(request.method) \(request.url.absoluteString)" }

    private static func line(_ response: HTTPResponse) -> String {
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
