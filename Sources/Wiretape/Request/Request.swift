public import CassetteRedaction
public import Dispatch
public import Foundation
public import TapeBytes

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension HTTPSession {
    /// A request of a session: the common part of requests that collect, upload, download or stream.
    ///
    /// It is sent when its first response handler is added, or by `resume()`. It may be cancelled at any time, from any thread.
    // SAFETY: only constants of Sendable types are stored, here and in the subclasses; mutable state is guarded by the lock of `data`.
    public class Request: @unchecked Sendable, Identifiable {
        public let id: UUID
        /// Ascending within the session.
        let number: UInt64
        let core: SessionCore
        let transport: any Transport
        /// The cassette of the task or the session that created the request. Handlers, adapters and retriers run with it, so that requests
        /// they make do not go to the network.
        private let cassette: Cassette?
        let source: RequestSource
        let interceptor: (any RequestInterceptor)?
        let sink: Sink
        let data: Guarded<RequestData>

        /// - Parameter carrier: opens a WebSocket through the transport of the request.
        init(
            core: SessionCore, source: RequestSource, interceptor: (any RequestInterceptor)?, sink: Sink, carrier: SocketOpening? = nil
        ) {
            self.core = core
            self.number = core.nextNumber()
            self.id = core.id(of: self.number)
            let (transport, cassette) = core.destination()
            carrier?.inner = transport
            (self.transport, self.cassette) = (carrier ?? transport, cassette)
            self.source = source
            self.interceptor = interceptor
            self.sink = sink
            self.data = Guarded(RequestData())
            core.emit(.created, of: self)
        }

        /// Runs the closure with the cassette of the request as `Cassette.current`.
        func withItsCassette<Result>(_ body: () throws -> Result) rethrows -> Result {
            guard let cassette = self.cassette else { return try body() }
            return try Cassette.$current.withValue(cassette, operation: body)
        }

        // MARK: State

        public var state: HTTPSession.Request.State { self.data.withLock { $0.machine.state } }
        public var isInitialized: Bool { self.state == .initialized }
        public var isResumed: Bool { self.state == .resumed }
        public var isSuspended: Bool { self.state == .suspended }
        public var isCancelled: Bool { self.state == .cancelled }
        public var isFinished: Bool { self.state == .finished }

        /// The request as last sent; nil before. A `URLRequest` keeps neither the order nor the duplicates of fields: `sentRequest` does.
        public var request: URLRequest? { self.sentRequest.map { URLRequest($0) } }

        /// The request as last sent; nil before.
        public var sentRequest: TransportRequest? { self.data.withLock { $0.sent } }

        /// The head of the response; nil before it has arrived.
        public var response: Response? { self.data.withLock { $0.isRedirect ? nil : $0.response } }

        /// Why the request failed; nil if it has not.
        public var error: WiretapeError? { self.data.withLock { $0.outcome?.error } }

        /// The number of attempts after the first.
        public var retryCount: Int { self.data.withLock { $0.earlier.count } }

        // MARK: Control

        /// Starts the request, or continues after `suspend()`. Does nothing if the request is running or has ended.
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

        /// Stops asking for data until `resume()`. Data already on its way still arrives. Of the timeouts, only `total` keeps running.
        @discardableResult
        public func suspend() -> Self {
            if self.data.withLock({ $0.machine.suspend() }) { self.core.emit(.suspended, of: self) }
            return self
        }

        /// Ends the request with an error with the code `cancelled`, unless it has ended.
        @discardableResult
        public func cancel() -> Self {
            self.cancel(.cancelled)
            return self
        }

        func cancel(_ error: WiretapeError) { self.finish(error, as: .cancelled) }

        /// The first handler starts the request, unless the session waits for `resume()`.
        func startForHandler() {
            guard self.core.configuration.startsRequestsImmediately else { return }
            if self.data.withLock({ $0.machine.state == .initialized }) { self.resume() }
        }
    }
}

extension HTTPSession.Request {
    /// Sends Basic credentials with the first attempt, without waiting for a challenge (RFC 7617).
    ///
    /// Replaces an Authorization field of the request. Call it before the request starts.
    @discardableResult
    public func authenticate(username: String, password: String) -> Self {
        self.data.withLock { $0.options.authorization = .authorization(username: username, password: password) }
        return self
    }

    /// Decides on this request's redirects instead of the session's handler. Call it before the request starts.
    @discardableResult
    public func redirect(using handler: any HTTPSession.RedirectHandler) -> Self {
        self.data.withLock { $0.options.redirectHandler = handler }
        return self
    }

    /// Calls a closure with the head of the response, after redirects and before any of the body; `.cancel` cancels the request.
    ///
    /// Called on the transport's thread, so it must return at once. Add it before the request starts.
    @discardableResult
    public func onHTTPResponse(perform handler: @escaping @Sendable (HTTPSession.Response) -> HTTPSession.Request.ResponseDisposition)
        -> Self
    {
        self.data.withLock { $0.options.dispositions.append(handler) }
        return self
    }

    /// Calls a closure with each event of this request only, on the thread where the event happens. Add it before the request starts.
    package func observe(_ observer: @escaping @Sendable (HTTPSession.Event.Kind) -> Void) {
        self.data.withLock { $0.options.observers.append(observer) }
    }

    /// Ends the request with an error, if it has not ended.
    package func fail(_ error: WiretapeError) { self.finish(error) }

    // MARK: Progress

    /// Calls a closure whenever more of the body has been sent, and at the end.
    ///
    /// The calls do not overlap, even on a concurrent queue, where the last may come after the response.
    @discardableResult
    public func uploadProgress(queue: DispatchQueue = .main, closure: @escaping @Sendable (TransferProgress) -> Void) -> Self {
        let queue = Self.inOrder(queue)
        self.observe(.upload) { progress, _ in queue.async { closure(progress) } }
        return self
    }

    /// Calls a closure whenever more of the response has arrived, and at the end.
    ///
    /// The calls do not overlap, even on a concurrent queue, where the last may come after the response.
    @discardableResult
    public func downloadProgress(queue: DispatchQueue = .main, closure: @escaping @Sendable (TransferProgress) -> Void) -> Self {
        let queue = Self.inOrder(queue)
        self.observe(.download) { progress, _ in queue.async { closure(progress) } }
        return self
    }

    private static func inOrder(_ queue: DispatchQueue) -> DispatchQueue {
        queue === DispatchQueue.main ? queue : DispatchQueue(label: "wiretape.progress", target: queue)
    }

    /// How much of the body has been sent, until the request ends. Buffers 64 values: a slower reader misses the oldest.
    public func uploadProgress() -> AsyncStream<TransferProgress> { self.stream(of: .upload) }

    /// How much of the response has arrived, until the request ends. Buffers 64 values: a slower reader misses the oldest.
    public func downloadProgress() -> AsyncStream<TransferProgress> { self.stream(of: .download) }

    private func stream(of direction: TransferCount.Direction) -> AsyncStream<TransferProgress> {
        let (stream, continuation) = AsyncStream.makeStream(of: TransferProgress.self, bufferingPolicy: .bufferingNewest(64))
        self.observe(direction) { progress, isLast in
            continuation.yield(progress)
            if isLast { continuation.finish() }
        }
        return stream
    }

    /// An observer added after the end gets the final progress at once.
    private func observe(_ direction: TransferCount.Direction, _ observer: @escaping TransferCount.Observer) {
        let final = self.data.withLock { data -> TransferProgress? in
            guard data.outcome == nil else { return data[direction].progress }
            data[direction].observe(observer)
            return nil
        }
        if let final { observer(final, true) }
    }

    // MARK: Validation

    /// Adds a rule for the response. Rules are checked in order, and the first that fails fails the request. Call it before the request
    /// starts.
    @discardableResult
    public func validate(_ validation: HTTPSession.Validation) -> Self {
        self.data.withLock { $0.options.validations.append(validation) }
        return self
    }

    /// Fails the request if the closure throws.
    ///
    /// - Parameter check: gets the request as last sent, the response, and the body if it is in memory.
    @discardableResult
    public func validate(_ check: @escaping HTTPSession.Validation.Check) -> Self { self.validate(HTTPSession.Validation(check)) }

    /// Accepts statuses 200 to 299, and content types that the request's `Accept` asks for.
    @discardableResult
    public func validate() -> Self { self.validate(.default) }

    @discardableResult
    public func validate(statusCode acceptable: some Sequence<Int>) -> Self { self.validate(.statusCode(acceptable)) }

    @discardableResult
    public func validate(contentType acceptable: some Sequence<String>) -> Self { self.validate(.contentType(acceptable)) }

    /// The error of the first rule that rejects the response; nil if none does.
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

    // MARK: Curl

    /// The request as a curl command: as it was last sent, or before the first attempt, without the changes of adapters.
    ///
    /// Creates the request if that has not happened, and throws the error if it cannot be created. Sends nothing.
    ///
    /// - Parameter redaction: what is redacted; nil shows all secrets.
    public func curl(redaction: RedactionRules? = .standard) throws -> HTTPSession.CurlDescription {
        if let sent = self.sentRequest { return HTTPSession.CurlDescription(sent, redaction: redaction) }
        do {
            return HTTPSession.CurlDescription(try self.draft().request, redaction: redaction)
        } catch {
            throw WiretapeError(error, as: .invalidRequest)
        }
    }

    /// The curl command with secrets redacted; the error's text if the request cannot be created.
    public func cURLDescription() -> String {
        do {
            return try self.curl().description
        } catch {
            return "\(error)"
        }
    }
}

extension HTTPSession.Request {
    /// The decision about a response whose head has arrived.
    public enum ResponseDisposition: Sendable, Hashable {
        case allow
        /// Cancels the request before any of the body is read.
        case cancel
    }
}

extension HTTPSession.Request {
    /// Ends the request once: the first call decides how.
    func finish(_ error: WiretapeError?, as state: HTTPSession.Request.State = .finished) {
        let state: HTTPSession.Request.State = error?.isCancelled == true ? .cancelled : state
        let now = self.core.clock.elapsed
        let file: URL? = if case .file(let download) = self.sink, error == nil { download.url } else { nil }
        let ending = self.data.withLock { data -> RequestData.Ending? in
            guard data.machine.finish(as: state) else { return nil }
            return data.end(id: self.id, error: error, file: file, resumption: self.resumption(data, after: error), now: now)
        }
        guard let ending else { return }
        self.core.finished(self)
        ending.watch?.cancel()
        ending.work?.cancel()
        ending.task?.cancel()
        switch self.sink {
        case .memory: break
        case .file(let download): download.finish(isKept: file != nil, leavesPart: ending.outcome.resumption != nil)
        case .stream(let hub): hub.finish(error)
        }
        if state == .cancelled { self.core.emit(.cancelled, of: self) }
        self.core.emit(.finished(error: error), of: self)
        for progress in ending.progress { progress.notify() }
        for waiter in ending.waiters { waiter.resume(returning: ending.outcome) }
        self.runHandlers()
    }

    /// Waits for the request to end.
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

    func add(_ handler: @escaping HandlerQueue.Handler) {
        self.data.withLock { $0.handlers.add(handler) }
        self.startForHandler()
        self.runHandlers()
    }

    /// Adds a handler that makes a response on the serialization queue and delivers it on `queue`.
    func add<Response: Sendable>(
        _ queue: DispatchQueue, _ make: @escaping @Sendable (RequestOutcome) -> Response, _ handler: @escaping @Sendable (Response) -> Void
    ) {
        // Weak: a request that never starts would be kept alive by its own handlers.
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

    /// Runs the next handler if the request has ended and none is running.
    private func runHandlers() {
        let (handler, outcome) = self.data.withLock { data in (data.handlers.start(), data.outcome) }
        guard let handler, let outcome else { return }
        handler(outcome) {
            self.data.withLock { $0.handlers.handlerReturned() }
            self.runHandlers()
        }
    }
}

extension HTTPSession.Request {
    /// Where the bytes of a response go.
    enum Sink: Sendable {
        /// The request's own data.
        case memory
        case file(DownloadFile)
        case stream(StreamHub)
    }
}
