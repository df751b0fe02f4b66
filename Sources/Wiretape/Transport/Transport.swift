public import Foundation

/// Sends one request and reports its response as events.
///
/// Knows one request and one response: redirects, retries, cookies, credentials, timeouts and progress are the session's, so that they are
/// the same for every transport.
public protocol Transport: Sendable {
    /// Starts an exchange.
    ///
    /// - Parameters:
    ///   - request: complete: a transport adds nothing but what the wire needs (Host, Content-Length).
    ///   - receive: takes the events, one at a time, on any thread, and perhaps before `start` returns. The order is `sent`, `interim`,
    ///     `head`, `chunk`, `trailers`, `metrics`, then `end`, or `failed` at any moment; nothing follows those two. `pause` asks for
    ///     nothing more until `TransportTask.resume`; what was on its way may still come.
    func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask
}

/// An exchange that was started.
public protocol TransportTask: Sendable {
    /// Gives the exchange up: its last event is then `failed` with the kind `cancelled`. Does nothing after its end.
    func cancel()

    /// Continues after a `pause`. Harmless if there was none; counts also if it comes before the transport has seen the pause.
    func resume()
}

/// What a receiver of events wants next.
public enum Demand: Sendable, Hashable {
    case more
    /// Nothing until `TransportTask.resume`.
    case pause
}

/// What happens to an exchange, in the order in which it happens.
public enum TransportEvent: Sendable {
    /// Bytes of the request's body that have gone out, and its size.
    case sent(Int64, of: Int64)
    /// A 1xx response (RFC 9110, 15.2).
    case interim(status: Int, headers: HTTPHeaders)
    case head(HTTPResponse)
    /// The next bytes of the body, without content codings; in the pieces in which they came.
    case chunk(Data)
    case trailers(HTTPHeaders)
    /// The times that the platform measured, or those of the cassette.
    case metrics(ExchangeMetrics)
    case end
    case failed(TransportFailure)

    /// Whether no event follows it.
    public var isLast: Bool {
        switch self {
        case .end, .failed: true
        case .sent, .interim, .head, .chunk, .trailers, .metrics: false
        }
    }
}

/// Refuses each request: there is no cassette, and the environment forbids the network.
struct OfflineTransport: Transport {
    func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
        let message =
            "\(request.method) \"\(LogURL.text(request.url))\" has no cassette, and \(FallbackTransport.variable) keeps it from the network: make it in the task of its test, or through Session(cassette:), or unset the variable."
        _ = receive(.failed(TransportFailure(.unsupported, message)))
        return FinishedTask.shared
    }
}
