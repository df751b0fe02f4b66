public import Foundation
internal import TapeBytes

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A request of a session: what is common to those that collect, upload, download or stream.
///
/// Goes out with its first response handler, or by `resume()`; may be cancelled at any time, from any thread.
// SAFETY: nothing but constants of Sendable types is stored, here and in the subclasses; what changes is behind the lock of `data`.
public class Request: @unchecked Sendable, Identifiable {
    public let id: UUID
    /// Rising in each session.
    let number: UInt64
    let core: SessionCore
    let transport: any Transport
    /// Of the task that made the request: handlers, adapters and retriers find it too, so that requests made there don't leave for the network.
    private let cassette: Cassette?
    let source: RequestSource
    let interceptor: (any RequestInterceptor)?
    let sink: BodySink
    let data: Guarded<RequestData>

    init(core: SessionCore, source: RequestSource, interceptor: (any RequestInterceptor)?, sink: BodySink) {
        self.core = core
        self.number = core.nextNumber()
        self.id = core.id(of: self.number)
        self.transport = core.transportOfNow
        self.cassette = Cassette.current
        self.source = source
        self.interceptor = interceptor
        self.sink = sink
        self.data = Guarded(RequestData())
        core.emit(.created, of: self)
    }

    /// Runs something where `Cassette.current` is what it was where the request was made.
    func withItsCassette<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard let cassette = self.cassette else { return try body() }
        return try Cassette.$current.withValue(cassette, operation: body)
    }

    // MARK: State

    public var state: RequestState { self.data.withLock { $0.machine.state } }
    public var isInitialized: Bool { self.state == .initialized }
    public var isResumed: Bool { self.state == .resumed }
    public var isSuspended: Bool { self.state == .suspended }
    public var isCancelled: Bool { self.state == .cancelled }
    public var isFinished: Bool { self.state == .finished }

    /// As it went out last; nil before that. A `URLRequest` keeps neither order nor duplicates of fields: `sentRequest` does.
    public var request: URLRequest? { self.sentRequest.map { URLRequest($0) } }

    /// As it went out last; nil before that.
    public var sentRequest: TransportRequest? { self.data.withLock { $0.sent } }

    /// The head of the answer; nil before it is there.
    public var response: HTTPResponse? { self.data.withLock { $0.isRedirect ? nil : $0.response } }

    /// Why it failed; nil while it has not.
    public var error: WiretapeError? { self.data.withLock { $0.outcome?.error } }

    /// How often it was sent again.
    public var retryCount: Int { self.data.withLock { $0.earlier.count } }

    // MARK: Orders

    /// Starts the request, or goes on after `suspend()`. Does nothing where it runs or is over.
    @discardableResult
    public func resume() -> Self {
        let (resumption, held) = self.data.withLock { data -> (RequestMachine.Resumption, TransportRequest?) in
            let resumption = data.machine.resume()
            guard resumption == .send else { return (resumption, nil) }
            defer { data.held = nil }
            return (resumption, data.held)
        }
        switch resumption {
        case .nothing: break
        case .prepare:
            self.core.emit(.resumed, of: self)
            self.prepare()
        case .send:
            self.core.emit(.resumed, of: self)
            if let held { self.send(held) }
        case .demand:
            self.core.emit(.resumed, of: self)
            self.demandMore()
        }
        return self
    }

    /// Asks for nothing more until `resume()`. What was on its way still comes, and limits of time but the total one rest.
    @discardableResult
    public func suspend() -> Self {
        if self.data.withLock({ $0.machine.suspend() }) { self.core.emit(.suspended, of: self) }
        return self
    }

    /// Ends the request with an error of the code `cancelled`, unless it is over.
    @discardableResult
    public func cancel() -> Self {
        self.cancel(.cancelled)
        return self
    }

    func cancel(_ error: WiretapeError) { self.finish(error, as: .cancelled) }

    /// The first handler starts the request, where the session does not wait for `resume()`.
    func startForHandler() {
        guard self.core.configuration.startsRequestsImmediately else { return }
        if self.data.withLock({ $0.machine.state == .initialized }) { self.resume() }
    }
}
