internal import CassetteModel
internal import Foundation
internal import TapeBytes

// The exchanges on the transport. Each is one request with its response.
extension HTTPSession.Request {
    // MARK: Sending

    func send(_ bare: TransportRequest) {
        let request = self.withCookies(bare)
        let now = self.core.clock.elapsed
        let exchange = self.data.withLock { data -> Int? in
            guard let exchange = data.machine.send() else {
                if data.machine.state == .suspended { data.held = bare }
                return nil
            }
            data.begin(request, at: now)
            data.bare = bare
            data.upload.begin(total: request.body.size.map(Int64.init))
            data.download.begin(total: nil)
            return exchange
        }
        guard let exchange else { return }
        self.core.emit(.started(request), of: self)
        let task = self.transport.start(request) { self.receive($0, of: exchange) }
        self.started(task, of: exchange)
    }

    /// By now the exchange may have ended, may have been abandoned, or more data may have been requested.
    private func started(_ task: any TransportTask, of exchange: Int) {
        enum Next { case nothing, cancel, wait, demand }
        let next = self.data.withLock { data -> Next in
            guard data.machine.isCurrent(exchange) else { return data.machine.isAbandoned(exchange) ? .cancel : .nothing }
            data.task = task
            return data.isDemandDue ? .demand : .wait
        }
        switch next {
        case .nothing: break
        case .cancel: task.cancel()
        case .wait: self.armWatch()
        case .demand:
            self.armWatch()
            self.demandMore()
        }
    }

    /// Continues after a pause, unless there is still a reason to pause.
    func demandMore() {
        if case .stream(let hub) = self.sink, hub.isFull { return }
        let now = self.core.clock.elapsed
        let task = self.data.withLock { data -> (any TransportTask)? in
            guard data.isPaused, data.machine.state != .suspended else { return nil }
            guard let task = data.task else {
                data.isDemandDue = true
                return nil
            }
            data.isPaused = false
            data.isDemandDue = false
            data.watch?.somethingHappened(at: now)
            return task
        }
        task?.resume()
    }

    // MARK: Receiving

    /// How many bytes of a redirect's body are kept, for a handler that accepts the redirect as the response. Usually it is a line of HTML.
    static let redirectBodyLimit = 1 << 20

    /// Handles one event of an exchange; events of abandoned exchanges are dropped.
    private func receive(_ event: TransportEvent, of exchange: Int) -> Demand {
        let isMonitored = !self.core.configuration.eventMonitors.isEmpty
        if self.data.withLock({ (isMonitored || !$0.options.observers.isEmpty) && $0.machine.isCurrent(exchange) }) {
            self.core.emit(.transport(event), of: self)
        }
        switch event {
        case .sent(let count, let total): self.sent(count, of: total, exchange)
        case .interim: self.somethingHappened(exchange)
        case .head(let response): return self.headCame(response, exchange)
        case .chunk(let data): return self.chunkCame(data, exchange)
        case .trailers(let trailers): self.note(exchange) { $0.trailers = trailers }
        case .metrics: self.note(exchange) { $0.note(.transport(event), at: .zero) }
        case .end: self.ended(exchange)
        case .failed(let failure): self.failed(failure, exchange)
        }
        return self.demand(of: exchange)
    }

    private func note(_ exchange: Int, _ change: (inout RequestData) -> Void) {
        self.data.withLock { if $0.machine.isCurrent(exchange) { change(&$0) } }
    }

    private func somethingHappened(_ exchange: Int) {
        let now = self.core.clock.elapsed
        self.note(exchange) { $0.watch?.somethingHappened(at: now) }
    }

    private func sent(_ count: Int64, of total: Int64, _ exchange: Int) {
        let now = self.core.clock.elapsed
        let upload = self.data.withLock { data -> TransferCount? in
            guard data.machine.isCurrent(exchange) else { return nil }
            data.note(.transport(.sent(count, of: total)), at: now)
            data.watch?.somethingHappened(at: now)
            data.upload.reach(count, of: total)
            return data.upload.isObserved ? data.upload : nil
        }
        upload?.notify()
    }

    // MARK: Head

    private func headCame(_ response: HTTPSession.Response, _ exchange: Int) -> Demand {
        let now = self.core.clock.elapsed
        enum Next {
            case nothing, redirect, answer([@Sendable (HTTPSession.Response) -> HTTPSession.Request.ResponseDisposition], TransferCount?)
        }
        let next = self.data.withLock { data -> Next in
            guard data.machine.isCurrent(exchange) else { return .nothing }
            data.note(.transport(.head(response)), at: now)
            data.watch?.somethingHappened(at: now)
            data.response = response
            data.isRedirect = data.sent.map { Self.isRedirect($0, response, hops: data.redirects.count) } ?? false
            guard !data.isRedirect else { return .redirect }
            data.download.begin(total: response.bodySize)
            // Transports that send everything at once may not report it.
            let all = data.upload.progress.totalUnitCount ?? 0
            guard data.upload.isObserved, data.upload.progress.completedUnitCount < all else {
                return .answer(data.options.dispositions, nil)
            }
            data.upload.reach(all)
            return .answer(data.options.dispositions, data.upload)
        }
        switch next {
        case .nothing: return .more
        case .redirect: self.storeCookies(response)
        case .answer(let dispositions, let upload):
            self.storeCookies(response)
            upload?.notify()
            guard dispositions.allSatisfy({ $0(response) == .allow }) else {
                self.cancel(
                    WiretapeError(
                        .cancelled,
                        "the request was cancelled by its onHTTPResponse closure, after a response head with status \(response.status)"))
                return .more
            }
            if case .stream = self.sink, let error = self.rejection() {
                self.abandon()
                self.retryOrFinish(error)
            }
            if case .file(let file) = self.sink { self.begin(file, response, exchange) }
        }
        return self.demand(of: exchange)
    }

    /// Continues an earlier download if there is one.
    private func begin(_ file: DownloadFile, _ response: HTTPSession.Response, _ exchange: Int) {
        do {
            let count = try file.begin(response)
            guard count > 0 else { return }
            self.note(exchange) { data in
                data.download.begin(total: response.bodySize.map { $0 + count })
                data.download.reach(count)
            }
        } catch {
            self.abandon()
            self.finish(error)
        }
    }

    // MARK: Body

    private func chunkCame(_ chunk: Data, _ exchange: Int) -> Demand {
        let now = self.core.clock.elapsed
        enum Next { case nothing, cutRedirect, deliver(TransferCount?) }
        let next = self.data.withLock { data -> Next in
            guard data.machine.isCurrent(exchange) else { return .nothing }
            data.watch?.somethingHappened(at: now)
            if data.isRedirect {
                data.body.append(chunk)
                return data.body.count > Self.redirectBodyLimit ? .cutRedirect : .nothing
            }
            data.note(.transport(.chunk(chunk)), at: now)
            data.download.advance(by: chunk.count)
            if case .memory = self.sink {
                if data.body.isEmpty { data.body = chunk } else { data.body.append(chunk) }
            } else {
                data.isDelivered = true
            }
            return .deliver(data.download.isObserved ? data.download : nil)
        }
        switch next {
        case .nothing: break
        case .cutRedirect:
            self.abandon()
            self.redirect(isCut: true)
            return .more
        case .deliver(let download):
            do {
                try self.deliver(chunk)
            } catch {
                self.abandon()
                self.finish(WiretapeError(error, as: .file))
                return .more
            }
            download?.notify()
        }
        return self.demand(of: exchange)
    }

    private func deliver(_ chunk: Data) throws {
        switch self.sink {
        case .memory: break
        case .file(let file): try file.write(chunk)
        case .stream(let hub): hub.push(chunk)
        }
    }

    /// Stores a pause before returning it, so that a reader's demand in between is not lost.
    private func demand(of exchange: Int) -> Demand {
        let isFull = if case .stream(let hub) = self.sink { hub.isFull } else { false }
        let isPaused = self.data.withLock { data -> Bool in
            guard data.machine.isCurrent(exchange), isFull || data.machine.state == .suspended else { return false }
            data.isPaused = true
            return true
        }
        guard isPaused else { return .more }
        guard case .stream(let hub) = self.sink, isFull, !hub.isFull else { return .pause }
        let goesOn = self.data.withLock { data -> Bool in
            guard data.isPaused, data.machine.state != .suspended else { return false }
            data.isPaused = false
            return true
        }
        return goesOn ? .more : .pause
    }

    // MARK: End

    private func ended(_ exchange: Int) {
        let now = self.core.clock.elapsed
        enum Next { case nothing, redirect, conclude, headless }
        let next = self.data.withLock { data -> Next in
            guard data.machine.isCurrent(exchange) else { return .nothing }
            data.machine.exchangeEnded()
            data.task = nil
            data.note(.transport(.end), at: now)
            guard data.response != nil else { return .headless }
            return data.isRedirect ? .redirect : .conclude
        }
        switch next {
        case .nothing: break
        case .redirect: self.redirect(isCut: false)
        case .conclude: self.conclude()
        case .headless:
            self.retryOrFinish(
                WiretapeError(
                    TransportFailure(.network(.malformed), "the transport ended an exchange without a response: send head before end")))
        }
    }

    private func failed(_ failure: TransportFailure, _ exchange: Int) {
        let now = self.core.clock.elapsed
        let isCurrent = self.data.withLock { data -> Bool in
            guard data.machine.isCurrent(exchange) else { return false }
            data.machine.exchangeEnded()
            data.task = nil
            data.note(.transport(.failed(failure)), at: now)
            return true
        }
        guard isCurrent else { return }
        // It was not cancelled by the request, but for example by closing the cassette.
        if failure.kind == .network(.cancelled) { return self.cancel(WiretapeError(failure)) }
        self.retryOrFinish(WiretapeError(failure))
    }

    /// Abandons the current exchange; the request continues without it.
    ///
    /// - Parameter failure: the failure with which a recording of the exchange ends; nil if it is only cancelled.
    func abandon(dueTo failure: TransportFailure? = nil) {
        let task = self.data.withLock { data -> (any TransportTask)? in
            data.machine.exchangeAbandoned()
            defer { data.task = nil }
            return data.task
        }
        if let failure { task?.giveUp(dueTo: failure) } else { task?.cancel() }
    }

    // MARK: Answer

    /// The response is complete: validates it and moves a download to its destination.
    func conclude() {
        if case .stream = self.sink { return self.finish(nil) }
        if let error = self.rejection() { return self.retryOrFinish(error) }
        guard case .file(let file) = self.sink, let response = self.response else { return self.finish(nil) }
        do {
            try file.place(response)
            self.finish(nil)
        } catch {
            self.finish(WiretapeError(error, as: .file))
        }
    }

    // MARK: Cookies

    /// The request with the session's cookies for its URL.
    private func withCookies(_ request: TransportRequest) -> TransportRequest {
        guard request.loading.handlesCookies, let storage = self.core.configuration.cookieStorage else { return request }
        var request = request
        request.headers = CookieRule(storage: storage).headers(request.headers, for: request.url)
        return request
    }

    private func storeCookies(_ response: HTTPSession.Response) {
        guard let storage = self.core.configuration.cookieStorage, response.headers.contains(name: "Set-Cookie"),
            self.data.withLock({ $0.sent?.loading.handlesCookies != false })
        else { return }
        CookieRule(storage: storage).store(response)
    }
}
