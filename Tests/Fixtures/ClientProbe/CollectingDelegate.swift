import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Keeps the calls to a delegate, until the task is complete.
final class CollectingDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, @unchecked Sendable {
    // SAFETY: touched only on the session's serial queue, and after `done` by the thread that waited for it.
    private(set) var pieces: [String] = []
    private(set) var error: (any Error)?
    let done = DispatchSemaphore(value: 0)
    var credential: URLCredential?
    var body: Data?

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        self.pieces.append(String(decoding: data, as: UTF8.self))
    }

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
        self.pieces.append((try? String(contentsOf: location, encoding: .utf8)) ?? "unreadable")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        self.error = error
        self.done.signal()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        if let credential { completionHandler(.useCredential, credential) } else { completionHandler(.performDefaultHandling, nil) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(self.body.map { InputStream(data: $0) })
    }

    /// The result of the task, in one line.
    func outcome(of task: URLSessionTask) -> String {
        task.resume()
        self.done.wait()
        return self.error.map(Outcome.text) ?? "pieces \(self.pieces)"
    }
}
