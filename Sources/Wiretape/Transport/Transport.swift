internal import Dispatch
public import Foundation
internal import TapeBytes

/// Sends one request and reports its response as events.
///
/// Handles one request and one response. Redirects, retries, cookies, credentials, timeouts and progress are left to the session, so that
/// they are the same for every transport.
public protocol Transport: Sendable {
    /// Starts an exchange.
    ///
    /// - Parameters:
    ///   - request: complete. A transport adds only the fields that the wire needs (Host, Content-Length).
    ///   - receive: takes the events, one at a time, on any thread, possibly before `start` returns. The order is `sent`, `interim`,
    ///     `head`, `chunk`, `trailers`, `metrics`, then `end`, or `failed` at any moment; nothing follows those two. `pause` stops events
    ///     until `TransportTask.resume`; those on their way may still arrive.
    func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask
}

/// A running exchange.
public protocol TransportTask: Sendable {
    /// Cancels the exchange: its last event is then `failed` with the kind `cancelled`. Does nothing after its end.
    func cancel()

    /// Continues after a `pause`. Harmless if there was none; also takes effect if called before the transport has seen the pause.
    func resume()
}

/// The receiver's answer to an event.
public enum Demand: Sendable, Hashable {
    case more
    /// Nothing until `TransportTask.resume`.
    case pause
}

/// An event of an exchange. Events arrive in the order in which they happen.
public enum TransportEvent: Sendable {
    /// Bytes of the request's body that have been sent, and its size.
    case sent(Int64, of: Int64)
    /// A 1xx response (RFC 9110, 15.2).
    case interim(status: Int, headers: HTTPSession.Headers)
    case head(HTTPSession.Response)
    /// The next bytes of the body, without content codings; in the pieces in which they arrived.
    case chunk(Data)
    case trailers(HTTPSession.Headers)
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
struct OfflineTransport: Transport, WebSocketTransport {
    func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
        _ = receive(.failed(Self.failure(of: request)))
        return FinishedTask.shared
    }

    func open(_ request: TransportRequest, protocols: [String]) async throws -> any WebSocketConnection { throw Self.failure(of: request) }

    private static func failure(of request: TransportRequest) -> TransportFailure {
        TransportFailure(
            .unsupported,
            "\(request.method) \"\(LogURL.text(request.url))\" has no cassette, and \(FallbackTransport.variable) forbids the network: send it from the test's task, use HTTPSession(cassette:), or unset the variable."
        )
    }
}

/// An exchange that begins after work on another thread, such as reading a file.
final class DeferredTask: ExplainedTask {
    /// The next step after the work.
    struct Prepared: Sendable {
        let start: @Sendable () -> any TransportTask
        /// Called instead of `start` if the exchange was cancelled meanwhile.
        var discard: @Sendable () -> Void = {}
    }

    private struct State: Sendable {
        var task: (any TransportTask)?
        var hasBegun = false
        var isCancelled = false
        /// `resume` was called before there was a task.
        var wantsResume = false
        /// Why the exchange was given up before there was a task.
        var explanation: TransportFailure?
    }

    private let receive: @Sendable (TransportEvent) -> Demand
    private let state = Guarded(State())

    /// - Parameter prepare: may block: it runs on a global queue.
    init(receive: @escaping @Sendable (TransportEvent) -> Demand, prepare: @escaping @Sendable () -> Prepared) {
        self.receive = receive
        DispatchQueue.global().async {
            let prepared = prepare()
            let isCancelled = self.state.withLock { state in
                state.hasBegun = !state.isCancelled
                return state.isCancelled
            }
            guard !isCancelled else { return prepared.discard() }
            let task = prepared.start()
            let (wasCancelled, wasResumed, explanation) = self.state.withLock { state in
                state.task = task
                return (state.isCancelled, state.wantsResume, state.explanation)
            }
            if let explanation { (task as? any ExplainedTask)?.explain(explanation) }
            if wasCancelled { task.cancel() } else if wasResumed { task.resume() }
        }
    }

    func explain(_ failure: TransportFailure) {
        let task = self.state.withLock { state in
            state.explanation = failure
            return state.task
        }
        (task as? any ExplainedTask)?.explain(failure)
    }

    func cancel() {
        let (task, isFirst) = self.state.withLock { state in
            defer { state.isCancelled = true }
            return (state.task, !state.isCancelled && !state.hasBegun)
        }
        if isFirst { _ = self.receive(.failed(.cancelled())) }
        task?.cancel()
    }

    func resume() {
        let task = self.state.withLock { state in
            state.wantsResume = state.task == nil
            return state.task
        }
        task?.resume()
    }
}

/// A task that records why its exchange is given up, so that a replay ends in the same way.
protocol ExplainedTask: TransportTask {
    /// The exchange is about to be cancelled: the client has ended with this failure. Never blocks, and cancels nothing.
    func explain(_ failure: TransportFailure)
}

extension TransportTask {
    /// Cancels the exchange, and passes the reason on if the task records reasons.
    func giveUp(dueTo failure: TransportFailure) {
        (self as? any ExplainedTask)?.explain(failure)
        self.cancel()
    }
}

/// An exchange that ended inside `start`.
struct FinishedTask: TransportTask {
    static let shared = FinishedTask()

    func cancel() {}
    func resume() {}
}
