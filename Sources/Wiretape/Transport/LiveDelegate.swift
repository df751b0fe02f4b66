internal import Foundation
internal import TapeBytes

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Hands what URLSession says to the exchange it is about.
final class LiveDelegate: NSObject, URLSessionDataDelegate {
    private let tasks = Guarded<[Int: LiveTask]>([:])
    /// Evaluated in the challenges of Apple platforms; there are none elsewhere.
    private let serverTrust: ServerTrustManager?
    /// Asked on Apple platforms alone.
    private let cachedResponseHandler: (any CachedResponseHandler)?

    init(serverTrust: ServerTrustManager?, cachedResponseHandler: (any CachedResponseHandler)?) {
        self.serverTrust = serverTrust
        self.cachedResponseHandler = cachedResponseHandler
    }

    /// Before the task is started.
    func add(_ task: LiveTask) { self.tasks.withLock { $0[task.number] = task } }

    private func find(_ task: URLSessionTask) -> LiveTask? { self.tasks.withLock { $0[task.taskIdentifier] } }

    // MARK: URLSessionDataDelegate

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        self.find(dataTask)?.received(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { self.find(dataTask)?.received(data) }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        guard let handler = self.cachedResponseHandler, let request = dataTask.currentRequest else { return completionHandler(nil) }
        Task { completionHandler(await handler.cachedResponse(proposedResponse, for: request)) }
    }

    // MARK: URLSessionTaskDelegate

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        self.find(task)?.sent(totalBytesSent)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // A redirect is an answer: whether it is followed others decide.
        self.find(task)?.received(response)
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
        // It comes behind the whole 401 with its body, and up to Swift 6.3.1 nothing more would come after default handling.
        self.tasks.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.ended(nil)
        completionHandler(.cancelAuthenticationChallenge, nil)
        #else
        guard let serverTrust, challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust else {
            // In front of the response: without a credential it comes as it is.
            return completionHandler(.performDefaultHandling, nil)
        }
        let (disposition, credential) = serverTrust.answer(challenge) { self.find(task)?.distrusted($0) }
        completionHandler(disposition, credential)
        #endif
    }

    #if !canImport(FoundationNetworking)
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func urlSession(_ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse) {
        self.find(task)?.received(response)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        self.find(task)?.collected(metrics)
    }
    #endif

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        self.tasks.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.ended(error)
    }
}
