public import Foundation
internal import TapeBytes

/// A transport with a single method, for programs that bring their own way to the network: an HTTP client, a function, a test double.
///
///     struct Greeting: AsyncTransport {
///         func response(to request: TransportRequest) async throws -> TransportResponse {
///             TransportResponse(HTTPSession.Response(url: request.url, status: 200), body: Data("hello".utf8))
///         }
///     }
///     let session = HTTPSession(transport: Greeting())
///
/// Usable wherever a `Transport` is. It produces the events: the head when the method has returned, and the pieces of the body as they
/// come. The next piece is requested when the receiver wants more.
public protocol AsyncTransport: Transport {
    /// Called in a task of its own, which is cancelled with the request.
    ///
    /// - Throws: a `TransportFailure`, or any error. A `URLError` becomes the network failure that it stands for.
    func response(to request: TransportRequest) async throws -> TransportResponse
}

/// A response as an ``AsyncTransport`` makes it.
public struct TransportResponse: Sendable {
    public var head: HTTPSession.Response
    /// The body without content codings, in pieces. The next piece is taken when the receiver wants more. This slows down a stream made
    /// with `init(unfolding:)`; a stream that is filled from outside, such as one by `makeStream`, keeps the remaining pieces in memory.
    public var body: AsyncThrowingStream<Data, any Error>
    /// Fields that are sent after the body (RFC 9110, 6.5); called when that has ended.
    public var trailers: @Sendable () async throws -> HTTPSession.Headers = { HTTPSession.Headers() }

    public init(_ head: HTTPSession.Response, body: AsyncThrowingStream<Data, any Error>) {
        self.head = head
        self.body = body
    }

    public init(_ head: HTTPSession.Response, body: Data = Data()) {
        self.init(
            head,
            body: AsyncThrowingStream { pieces in
                if !body.isEmpty { pieces.yield(body) }
                pieces.finish()
            })
    }
}

extension AsyncTransport {
    public func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
        AsyncExchange(request, receive) { try await self.response(to: request) }
    }
}

/// An exchange whose response is returned by one call.
private final class AsyncExchange: ExplainedTask {
    private struct State: Sendable {
        var task: Task<Void, Never>?
        var isCancelled = false
        /// Waits until the receiver wants more.
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let request: TransportRequest
    private let relay: EventRelay
    private let state = Guarded(State())
    private let explanation = Guarded<TransportFailure?>(nil)

    init(
        _ request: TransportRequest, _ receive: @escaping @Sendable (TransportEvent) -> Demand,
        respond: @escaping @Sendable () async throws -> TransportResponse
    ) {
        self.request = request
        self.relay = EventRelay(receive)
        let task = Task { await ExchangeExplanation.$current.withValue(self.explanation) { await self.run(respond) } }
        let isCancelled = self.state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    private func run(_ respond: () async throws -> TransportResponse) async {
        var isAnswered = false
        do {
            let response = try await respond()
            if let size = self.request.body.size { self.relay.push(.sent(Int64(size), of: Int64(size))) }
            isAnswered = true
            self.relay.push(.head(response.head))
            await self.demand()
            for try await piece in response.body where !piece.isEmpty {
                self.relay.push(.chunk(piece))
                await self.demand()
                guard !self.relay.isOver else { return }
            }
            // A stream whose task is cancelled ends without an error.
            try Task.checkCancellation()
            let trailers = try await response.trailers()
            if !trailers.isEmpty { self.relay.push(.trailers(trailers)) }
            self.relay.push(.end)
        } catch {
            self.relay.push(.failed(TransportFailure(error, of: self.request, isAnswered: isAnswered)))
        }
    }

    /// Returns when the receiver wants more, or when the exchange was cancelled.
    private func demand() async {
        while self.relay.isPaused {
            await withCheckedContinuation { waiter in
                let goesOn = self.state.withLock { state in
                    guard !state.isCancelled, self.relay.isPaused else { return true }
                    state.waiter = waiter
                    return false
                }
                if goesOn { waiter.resume() }
            }
            if self.state.withLock({ $0.isCancelled }) { return }
        }
    }

    func explain(_ failure: TransportFailure) { self.explanation.withLock { $0 = failure } }

    func cancel() {
        let task = self.state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        self.relay.cancel()
        task?.cancel()
        self.wake()
    }

    func resume() {
        self.relay.resume()
        self.wake()
    }

    private func wake() {
        let waiter = self.state.withLock { state in
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}

/// Why the exchange of a task is given up, for an inner transport that records it.
enum ExchangeExplanation {
    @TaskLocal static var current: Guarded<TransportFailure?>?
}
