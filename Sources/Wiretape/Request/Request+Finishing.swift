internal import Foundation
internal import TapeBytes

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
