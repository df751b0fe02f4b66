internal import Foundation
internal import TapeBytes

extension Request {
    /// For callers without a task of their own: asks the retriers, where there are any.
    func retryOrFinish(_ error: WiretapeError) {
        guard !self.adapters.isEmpty, self.canBeSentAgain else { return self.finish(error) }
        self.work { await $0.failed(error) }
    }

    /// What readers have taken cannot be taken back.
    private var canBeSentAgain: Bool {
        guard case .stream = self.sink else { return true }
        return self.data.withLock { !$0.isDelivered }
    }

    /// Asks one retrier after the other until one wants something.
    func failed(_ error: WiretapeError) async {
        guard self.canBeSentAgain else { return self.finish(error) }
        let context = self.context()
        // What comes from elsewhere is handed on as it was thrown.
        let cause: any Error = error.underlying ?? error
        for retrier in self.retriers {
            switch await retrier.retry(context, dueTo: cause) {
            case .doNotRetry: continue
            case .doNotRetryWithError(let other): return self.finish(WiretapeError(other, as: .retrier))
            case .retry: return await self.again(after: .zero, dueTo: error)
            case .retryAfter(let delay): return await self.again(after: delay, dueTo: error)
            }
        }
        self.finish(error)
    }

    var retriers: [any RequestRetrier] {
        guard let interceptor = self.interceptor else { return self.core.configuration.interceptors }
        return [interceptor] + self.core.configuration.interceptors
    }

    private func again(after delay: Duration, dueTo error: WiretapeError) async {
        let delay = self.isReplayed ? .zero : delay
        let (retried, now) = (SessionEvent.Kind.retried(count: self.retryCount + 1, after: delay, dueTo: error), self.core.clock.elapsed())
        self.data.withLock { $0.note(retried, at: now) }
        self.core.emit(retried, of: self)
        if delay > .zero {
            // Cancelled with the request, which is over then.
            do {
                try await self.core.clock.sleep(delay)
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
            data.trailers = HTTPHeaders()
            return data.draft
        }
        guard let draft else { return self.finish(error) }
        await self.adaptAndSend(draft)
    }

    /// Nobody waits for a cassette.
    private var isReplayed: Bool {
        if case .replayed = self.data.withLock({ $0.response?.source }) { return true }
        // A recorded failure has no response to tell it by.
        if let cassette = (self.transport as? RecordingTransport)?.cassette { return cassette.recording == nil && cassette.player != nil }
        return self.transport is ReplayTransport
    }
}
