internal import Foundation
internal import TapeBytes

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

// Sending: the first attempt, retries and redirects.
extension HTTPSession.Request {
    /// The request's own interceptor, then those of the session.
    private var interceptors: [any HTTPSession.RequestInterceptor] {
        guard let interceptor = self.interceptor else { return self.core.configuration.interceptors }
        return [interceptor] + self.core.configuration.interceptors
    }

    // MARK: First attempt

    /// Creates and sends the request, at once unless it needs files or interceptors.
    func prepare() {
        let now = self.core.clock.elapsed
        self.data.withLock { data in
            data.start = now
            data.metrics = RequestMetrics.State(startTime: Date())
            data.watch = TimeoutWatch(self.core.configuration.timeouts, start: now)
        }
        self.core.started(self)
        // If it was cancelled meanwhile, nothing else removes it from the registry.
        guard self.data.withLock({ $0.outcome == nil }) else { return self.core.finished(self) }
        if !self.source.isBlocking, self.interceptors.isEmpty {
            do {
                let draft = try self.draft()
                guard draft.unread != nil else { return self.send(draft.request) }
            } catch {
                return self.finish(WiretapeError(error, as: .invalidRequest))
            }
        }
        self.work { request in
            do {
                await request.adaptAndSend(try await request.draftElsewhere())
            } catch {
                request.finish(WiretapeError(error, as: .invalidRequest))
            }
        }
        self.armWatch()
    }

    /// The draft, made on a separate thread if that may block: a stream is read at the pace of its producer, which may be a task that waits
    /// for one of the few threads that tasks share.
    private func draftElsewhere() async throws -> RequestDraft {
        let isBlocking = self.source.isBlocking
        var draft = try isBlocking ? await BlockingWork.run { self.withItsCassette { Result { try self.draft() } } }.get() : self.draft()
        guard draft.unread != nil else { return draft }
        draft = try await self.read(draft)
        let whole = draft
        self.data.withLock { data in
            data.draft = whole
            if data.outcome != nil { data.draft?.spool = nil }
        }
        return whole
    }

    private func read(_ draft: RequestDraft) async throws -> RequestDraft {
        guard draft.unread != nil else { return draft }
        let folder = self.core.configuration.temporaryFolder
        return try await BlockingWork.run { Result { try draft.read(in: folder) } }.get()
    }

    /// A request changed by an adapter or a redirect handler, with the body that it was given.
    private func changed(_ request: TransportRequest, from view: URLRequest, to changed: URLRequest) async throws -> TransportRequest {
        var draft = RequestDraft(request)
        try draft.change(from: view, to: changed)
        draft = try await self.read(draft)
        try draft.request.check()
        if let spool = draft.spool { self.data.withLock { if $0.outcome == nil { $0.spool = spool } } }
        return draft.request
    }

    /// Made once, for all attempts.
    func draft() throws -> RequestDraft {
        if let draft = self.data.withLock({ $0.draft }) { return draft }
        var draft = try self.source.make(self.core.configuration.baseURL)
        let authorization = self.data.withLock { $0.options.authorization }
        if let authorization { draft.request.headers.update(authorization) }
        draft.request.headers = draft.request.headers.adding(missing: self.core.configuration.headers)
        try draft.request.check()
        self.data.withLock { data in
            data.draft = draft
            // The request has ended, so its body is not sent: the file is removed.
            if data.outcome != nil { data.draft?.spool = nil }
            if let idle = draft.idleTimeout { data.watch?.timeouts.idle = idle }
        }
        if draft.idleTimeout != nil { self.rearmWatch() }
        return draft
    }

    /// Each attempt is adapted again.
    private func adaptAndSend(_ draft: RequestDraft) async {
        var request = draft.request
        let interceptors = self.interceptors
        if !interceptors.isEmpty {
            do {
                var view = URLRequest(request)
                let original = view
                let context = self.context()
                for interceptor in interceptors { view = try await interceptor.adapt(view, for: context) }
                request = try await self.changed(request, from: original, to: view)
                self.core.emit(.adapted(view), of: self)
            } catch {
                return await self.failed(WiretapeError(error, as: .adapter))
            }
        }
        self.send(request)
    }

    private func context() -> HTTPSession.RequestContext {
        var context = self.data.withLock { data in
            HTTPSession.RequestContext(
                id: self.id, retryCount: data.earlier.count, request: data.sent.map { URLRequest($0) }, response: data.response)
        }
        context.sender = self
        return context
    }

    /// Runs a closure in a task that is cancelled with the request.
    private func work(_ body: @escaping @Sendable (HTTPSession.Request) async -> Void) {
        self.data.withLock { data in
            if data.outcome == nil { data.work = self.withItsCassette { Task { await body(self) } } }
        }
    }

    // MARK: Retries

    /// Asks the interceptors for a retry, if there are any. For callers without a task.
    func retryOrFinish(_ error: WiretapeError) {
        guard !self.interceptors.isEmpty, self.canBeSentAgain else { return self.finish(error) }
        self.work { await $0.failed(error) }
    }

    /// A stream whose readers have received bytes cannot be sent again.
    private var canBeSentAgain: Bool {
        guard case .stream = self.sink else { return true }
        return self.data.withLock { !$0.isDelivered }
    }

    /// Asks one interceptor after the other until one decides.
    private func failed(_ error: WiretapeError) async {
        guard self.canBeSentAgain else { return self.finish(error) }
        let context = self.context()
        // Interceptors get a foreign error as it was thrown.
        let cause: any Error = error.cause ?? error
        for interceptor in self.interceptors {
            switch await interceptor.retry(context, dueTo: cause) {
            case .doNotRetry: continue
            case .doNotRetryWithError(let other): return self.finish(WiretapeError(other, as: .retrier))
            case .retry: return await self.again(after: .zero, dueTo: error)
            case .retryAfter(let delay): return await self.again(after: delay, dueTo: error)
            }
        }
        self.finish(error)
    }

    private func again(after delay: Duration, dueTo error: WiretapeError) async {
        let delay = self.isReplayed && !self.isJudged ? .zero : delay
        let (retried, now) = (
            HTTPSession.Event.Kind.retried(count: self.retryCount + 1, after: delay, dueTo: error), self.core.clock.elapsed
        )
        self.data.withLock { $0.note(retried, at: now) }
        self.core.emit(retried, of: self)
        if delay > .zero {
            // Throws if the request has been cancelled.
            do {
                try await self.core.clock.sleep(for: delay)
            } catch {
                return self.cancel(WiretapeError(error, as: .cancelled))
            }
        }
        if case .file(let file) = self.sink { file.restart() }
        let draft = self.data.withLock { data -> RequestDraft? in
            guard data.outcome == nil else { return nil }
            data.earlier.append(data.attempt(error))
            data.redirects = []
            data.response = nil
            data.body = Data()
            data.trailers = HTTPSession.Headers()
            return data.draft
        }
        guard let draft else { return self.finish(error) }
        await self.adaptAndSend(draft)
    }

    /// The transport of the cassette, behind its stubs.
    private var carrier: (any Transport)? {
        let carried = (self.transport as? SocketOpening)?.inner ?? self.transport
        return (carried as? StubbedTransport)?.next ?? carried
    }

    /// Whether a verdict looks at how long the client waits before it tries again.
    private var isJudged: Bool { (self.carrier as? RuledTransport)?.judgesClient == true }

    /// Retries of replayed exchanges do not wait.
    private var isReplayed: Bool {
        if case .replayed = self.data.withLock({ $0.response?.source }) { return true }
        // A replayed failure has no response with a source.
        let transport = self.carrier
        if let cassette = (transport as? RecordingTransport)?.cassette { return cassette.recording == nil && cassette.player != nil }
        return transport is ReplayTransport
    }

    // MARK: Redirects

    /// Whether a response is a redirect, followed or refused.
    static func isRedirect(_ request: TransportRequest, _ response: HTTPSession.Response, hops: Int) -> Bool {
        guard (300...399).contains(response.status) else { return false }
        return RedirectRule().decide(method: request.method, url: request.url, response: response, hops: hops) != .stay
    }

    /// Follows the redirect that has arrived, or accepts it as the response.
    ///
    /// - Parameter isCut: whether its body was too long to keep.
    func redirect(isCut: Bool) {
        let (bare, response, hops, own) = self.data.withLock { ($0.bare, $0.response, $0.redirects.count, $0.options.redirectHandler) }
        guard let bare, let response else { return }
        let proposed: TransportRequest
        let refusal: RedirectError?
        switch RedirectRule().decide(method: bare.method, url: bare.url, response: response, hops: hops) {
        case .stay: return self.takeRedirect(isCut: isCut)
        case .follow(let redirect): (proposed, refusal) = (redirect.request(following: bare), nil)
        case .refuse(let error): (proposed, refusal) = (bare, error)
        }
        guard let handler = own ?? self.core.configuration.redirectHandler else {
            if let refusal { return self.finish(WiretapeError(refusal, as: .redirect)) }
            return self.follow(to: proposed, from: response)
        }
        self.work { await $0.ask(handler, to: proposed, refusal, from: response, isCut: isCut) }
    }

    /// - Parameter refusal: why the redirect is not followed; `proposed` is then the original request. The handler may accept the redirect
    ///   as the response, or send the request elsewhere unless there were too many redirects.
    private func ask(
        _ handler: any HTTPSession.RedirectHandler, to proposed: TransportRequest, _ refusal: RedirectError?,
        from response: HTTPSession.Response, isCut: Bool
    ) async {
        let view = URLRequest(proposed)
        guard let wanted = await handler.redirect(response, to: view, for: self.context()) else { return self.takeRedirect(isCut: isCut) }
        if let refusal, refusal.code == .tooManyRedirects || wanted == view { return self.finish(WiretapeError(refusal, as: .redirect)) }
        do {
            self.follow(to: try await self.changed(proposed, from: view, to: wanted), from: response)
        } catch {
            self.finish(WiretapeError(error, as: .redirect))
        }
    }

    private func follow(to next: TransportRequest, from response: HTTPSession.Response) {
        self.data.withLock { data in
            if let sent = data.sent { data.redirects.append(HTTPSession.RedirectHop(request: sent, response: response)) }
        }
        self.core.emit(.redirected(from: response, to: URLRequest(next)), of: self)
        self.send(next)
    }

    /// Accepts the redirect as the response.
    private func takeRedirect(isCut: Bool) {
        guard !isCut else {
            return self.finish(
                WiretapeError(
                    .redirect,
                    "the redirect's body has more than \(Self.redirectBodyLimit) bytes, too many for a response: follow the redirect"))
        }
        let (response, body) = self.data.withLock { data in
            data.isRedirect = false
            data.download.begin(total: Int64(data.body.count))
            data.download.advance(by: data.body.count)
            return (data.response, data.body)
        }
        guard let response else { return }
        self.core.emit(.redirected(from: response, to: nil), of: self)
        do {
            switch self.sink {
            case .memory: break
            case .file(let file): try file.write(body)
            case .stream(let hub):
                if let error = self.rejection() { return self.retryOrFinish(error) }
                if !body.isEmpty { hub.push(body) }
            }
            self.conclude()
        } catch {
            self.finish(WiretapeError(error, as: .file))
        }
    }
}
