public import CassetteRedaction
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

/// Where the octets of an answer go.
enum BodySink: Sendable {
    /// Into the request's own data.
    case memory
    case file(DownloadFile)
    case stream(StreamHub)
}

extension Request {
    /// The request with the session's cookies for its URL.
    func withCookies(_ request: TransportRequest) -> TransportRequest {
        guard let storage = self.core.configuration.cookieStorage else { return request }
        var request = request
        request.headers = CookieRule(storage: storage).headers(request.headers, for: request.url)
        return request
    }

    func storeCookies(_ response: HTTPResponse) {
        guard let storage = self.core.configuration.cookieStorage, response.headers.contains(name: "Set-Cookie") else { return }
        CookieRule(storage: storage).store(response)
    }
}

extension Request {
    /// The request as a command for a shell that sends the same with curl: as it went out last, or as it would go out before adapters.
    ///
    /// Makes the request where it has not been made, and throws what that throws; sends nothing.
    ///
    /// - Parameter redaction: what is taken out of it; nil shows all secrets.
    public func curl(redaction: RedactionRules? = .standard) throws -> CurlDescription {
        if let sent = self.sentRequest { return CurlDescription(sent, redaction: redaction) }
        do {
            return CurlDescription(try self.draft().request, redaction: redaction)
        } catch {
            throw WiretapeError(error, as: .invalidRequest)
        }
    }

    /// The same as text, with secrets taken out; the error's text where the request cannot be made.
    public func cURLDescription() -> String {
        do {
            return try self.curl().description
        } catch {
            return "\(error)"
        }
    }
}

extension Request {
    /// How the request ended; cancelled with the task that waits for it, where that is wanted.
    func outcome(cancelsAutomatically: Bool) async -> RequestOutcome {
        if let outcome = self.data.withLock({ $0.outcome }) { return outcome }
        guard cancelsAutomatically else { return await self.outcome() }
        return await withTaskCancellationHandler {
            await self.outcome()
        } onCancel: {
            self.cancel()
        }
    }

    /// A handler that makes a response where serializers work, and hands it over on a queue.
    func add<Response: Sendable>(
        _ queue: DispatchQueue, _ make: @escaping @Sendable (RequestOutcome) -> Response, _ handler: @escaping @Sendable (Response) -> Void
    ) {
        // Who never starts would be kept by its own handlers.
        self.add { [weak self] outcome, done in
            guard let self else { return done() }
            SessionCore.serializationQueue.async {
                let response = make(outcome)
                queue.async {
                    self.withItsCassette { handler(response) }
                    done()
                }
            }
        }
    }
}

extension Request {
    /// Adds a rule that the answer has to follow; in order, the first that does not hold is the request's error. To be called before the
    /// request starts.
    @discardableResult
    public func validate(_ validation: Validation) -> Self {
        self.data.withLock { $0.options.validations.append(validation) }
        return self
    }

    /// Statuses 200 to 299, and a content type that the request's `Accept` asks for.
    @discardableResult
    public func validate() -> Self { self.validate(.default) }

    @discardableResult
    public func validate(statusCode acceptable: some Sequence<Int>) -> Self { self.validate(.statusCode(acceptable)) }

    @discardableResult
    public func validate(contentType acceptable: some Sequence<String>) -> Self { self.validate(.contentType(acceptable)) }

    /// What a rule has against the answer; nil for nothing.
    func rejection() -> WiretapeError? {
        let (validations, sent, response, body) = self.data.withLock { ($0.options.validations, $0.sent, $0.response, $0.body) }
        guard !validations.isEmpty, let sent, let response else { return nil }
        let data: Data? = if case .memory = self.sink { body } else { nil }
        let request = URLRequest(sent)
        for validation in validations {
            do {
                try validation.validate(request: request, response: response, data: data)
            } catch {
                let error = WiretapeError(error, as: .validation)
                self.core.emit(.validated(error: error), of: self)
                return error
            }
        }
        self.core.emit(.validated(error: nil), of: self)
        return nil
    }
}

extension Request {
    /// Ends the request, once: the first to come says how.
    func finish(_ error: WiretapeError?, as state: RequestState = .finished) {
        let state: RequestState = error?.isCancelled == true ? .cancelled : state
        let now = self.core.clock.elapsed()
        let file: URL? = if case .file(let download) = self.sink, error == nil { download.url } else { nil }
        let ending = self.data.withLock { data -> RequestEnding? in
            guard data.machine.finish(as: state) else { return nil }
            return data.end(id: self.id, error: error, file: file, now: now)
        }
        guard let ending else { return }
        self.core.finished(self)
        ending.watch?.cancel()
        ending.work?.cancel()
        ending.task?.cancel()
        switch self.sink {
        case .memory: break
        case .file(let download): download.finish(isKept: file != nil)
        case .stream(let hub): hub.finish(error)
        }
        if state == .cancelled { self.core.emit(.cancelled, of: self) }
        self.core.emit(.finished(error: error), of: self)
        for progress in ending.progress { progress.notify() }
        for waiter in ending.waiters { waiter.resume(returning: ending.outcome) }
        self.runHandlers()
    }

    /// How the request ended, when it has.
    func outcome() async -> RequestOutcome {
        if let outcome = self.data.withLock({ $0.outcome }) { return outcome }
        return await withCheckedContinuation { waiter in
            let outcome = self.data.withLock { data -> RequestOutcome? in
                if data.outcome == nil { data.waiters.append(waiter) }
                return data.outcome
            }
            if let outcome { waiter.resume(returning: outcome) }
        }
    }

    // MARK: Handlers

    func add(_ handler: @escaping HandlerLine.Handler) {
        self.data.withLock { $0.handlers.add(handler) }
        self.startForHandler()
        self.runHandlers()
    }

    /// Runs the next handler, if it is its turn.
    func runHandlers() {
        let (handler, outcome) = self.data.withLock { data in (data.handlers.start(), data.outcome) }
        guard let handler, let outcome else { return }
        handler(outcome) {
            self.data.withLock { $0.handlers.handlerReturned() }
            self.runHandlers()
        }
    }
}
