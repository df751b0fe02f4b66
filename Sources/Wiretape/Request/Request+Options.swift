public import Dispatch
internal import Foundation
internal import TapeBytes

extension Request {
    /// Sends the Basic scheme's credentials with the first attempt, without waiting for a challenge (RFC 7617). In place of an
    /// Authorization field that the request has; to be called before the request starts.
    @discardableResult
    public func authenticate(username: String, password: String) -> Self {
        self.data.withLock { $0.options.authorization = .authorization(username: username, password: password) }
        return self
    }

    /// Decides on this request's redirects in place of the session's handler; to be called before the request starts.
    @discardableResult
    public func redirect(using handler: any RedirectHandler) -> Self {
        self.data.withLock { $0.options.redirectHandler = handler }
        return self
    }

    /// Looks at the head of the answer, behind redirects and before any of the body is taken; `cancel` gives the request up. Called where
    /// it happens: returns at once. To be added before the request starts.
    @discardableResult
    public func onHTTPResponse(perform handler: @escaping @Sendable (HTTPResponse) -> ResponseDisposition) -> Self {
        self.data.withLock { $0.options.dispositions.append(handler) }
        return self
    }

    // MARK: Progress

    /// Calls a closure whenever more of the body has gone out, and at the end.
    @discardableResult
    public func uploadProgress(queue: DispatchQueue = .main, closure: @escaping @Sendable (TransferProgress) -> Void) -> Self {
        self.observe(.upload) { progress, _ in queue.async { closure(progress) } }
        return self
    }

    /// Calls a closure whenever more of the answer has come, and at the end.
    @discardableResult
    public func downloadProgress(queue: DispatchQueue = .main, closure: @escaping @Sendable (TransferProgress) -> Void) -> Self {
        self.observe(.download) { progress, _ in queue.async { closure(progress) } }
        return self
    }

    /// How far the body has gone out, until the request is over. A reader who lags behind misses the oldest of 64.
    public func uploadProgress() -> AsyncStream<TransferProgress> { self.stream(of: .upload) }

    /// How far the answer has come, until the request is over. A reader who lags behind misses the oldest of 64.
    public func downloadProgress() -> AsyncStream<TransferProgress> { self.stream(of: .download) }

    private func stream(of direction: TransferDirection) -> AsyncStream<TransferProgress> {
        let (stream, continuation) = AsyncStream.makeStream(of: TransferProgress.self, bufferingPolicy: .bufferingNewest(64))
        self.observe(direction) { progress, isLast in
            continuation.yield(progress)
            if isLast { continuation.finish() }
        }
        return stream
    }

    /// Who comes when all is over is told so.
    private func observe(_ direction: TransferDirection, _ observer: @escaping TransferCount.Observer) {
        let final = self.data.withLock { data -> TransferProgress? in
            guard data.outcome == nil else { return data[direction].progress }
            data[direction].observe(observer)
            return nil
        }
        if let final { observer(final, true) }
    }
}
