internal import Foundation
internal import TapeBytes

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension Request {
    /// In the order in which they change a request: its own first, then the session's.
    var adapters: [any RequestAdapter] {
        guard let interceptor = self.interceptor else { return self.core.configuration.interceptors }
        return [interceptor] + self.core.configuration.interceptors
    }

    // MARK: First attempt

    /// Makes what is to be sent: at once where neither files nor adapters have a part in it.
    func prepare() {
        let now = self.core.clock.elapsed()
        self.data.withLock { data in
            data.start = now
            data.metrics = MetricsState(startTime: Date())
            data.watch = TimeoutWatch(self.core.configuration.timeouts, start: now)
        }
        self.core.started(self)
        // Cancelled in the meantime: nobody else would take it off the list.
        guard self.data.withLock({ $0.outcome == nil }) else { return self.core.finished(self) }
        guard self.source.isBlocking || !self.adapters.isEmpty else {
            do {
                self.send(try self.draft().request)
            } catch {
                self.finish(WiretapeError(error, as: .invalidRequest))
            }
            return
        }
        self.work { request in
            do {
                let draft = try request.draft()
                await request.adaptAndSend(draft)
            } catch {
                request.finish(WiretapeError(error, as: .invalidRequest))
            }
        }
        self.armWatch()
    }

    /// Made once, for all attempts.
    func draft() throws -> RequestDraft {
        if let draft = self.data.withLock({ $0.draft }) { return draft }
        var draft = try self.source.make()
        let authorization = self.data.withLock { $0.options.authorization }
        if let authorization { draft.request.headers.update(authorization) }
        draft.request.headers = draft.request.headers.adding(missing: self.core.configuration.headers)
        try draft.request.check()
        self.data.withLock { data in
            data.draft = draft
            // Too late for a body to go out: its file goes.
            if data.outcome != nil { data.draft?.spool = nil }
            if let idle = draft.idleTimeout { data.watch?.timeouts.idle = idle }
        }
        if draft.idleTimeout != nil { self.rearmWatch() }
        return draft
    }

    /// Each attempt is adapted anew.
    func adaptAndSend(_ draft: RequestDraft) async {
        var request = draft.request
        let adapters = self.adapters
        if !adapters.isEmpty {
            do {
                var view = URLRequest(request)
                let original = view
                let context = self.context()
                for adapter in adapters { view = try await adapter.adapt(view, for: context) }
                request = try request.adapted(from: original, to: view)
                try request.check()
                self.core.emit(.adapted(view), of: self)
            } catch {
                return await self.failed(WiretapeError(error, as: .adapter))
            }
        }
        self.send(request)
    }

    func context() -> RequestContext {
        self.data.withLock { data in
            RequestContext(
                id: self.id, retryCount: data.earlier.count, request: data.sent.map { URLRequest($0) }, response: data.response)
        }
    }

    // MARK: Each exchange

    func send(_ bare: TransportRequest) {
        let request = self.withCookies(bare)
        let now = self.core.clock.elapsed()
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

    /// The exchange may be over, given up or asked for more by now.
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

    /// Goes on behind a pause, unless there is still a reason for it.
    func demandMore() {
        if case .stream(let hub) = self.sink, hub.isFull { return }
        let now = self.core.clock.elapsed()
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

    /// Runs something that waits; it is cancelled with the request.
    func work(_ body: @escaping @Sendable (Request) async -> Void) {
        self.data.withLock { data in
            if data.outcome == nil { data.work = self.withItsCassette { Task { await body(self) } } }
        }
    }
}
