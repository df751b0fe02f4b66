import Foundation
import TapeBytes

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Records the calls to a delegate of URLSession, and waits for the end of a task.
final class RecordingDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private let calls = Guarded<[String]>([])
    private let (ends, end) = AsyncStream.makeStream(of: Void.self)
    /// The answer to a redirect.
    private let redirect: @Sendable (URLRequest) -> URLRequest?
    private let stream: Data?

    init(stream: Data? = nil, redirect: @escaping @Sendable (URLRequest) -> URLRequest? = { $0 }) {
        (self.stream, self.redirect) = (stream, redirect)
    }

    private func note(_ call: String) { self.calls.withLock { $0.append(call) } }

    /// Starts the task, waits for its end, and returns the calls.
    func run(_ task: URLSessionTask) async -> [String] {
        task.resume()
        return await self.ended()
    }

    func ended() async -> [String] {
        for await _ in self.ends { break }
        return self.calls.withLock { $0 }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        self.note("\((response as? HTTPURLResponse)?.statusCode ?? 0)")
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        self.note(String(decoding: data, as: UTF8.self))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        self.note("sent \(bytesSent), \(totalBytesSent) of \(totalBytesExpectedToSend)")
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        self.note("stream")
        completionHandler(self.stream.map { InputStream(data: $0) })
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        self.note("redirect \(response.statusCode) to \(request.httpMethod ?? "") \(request.url?.path ?? "")")
        completionHandler(self.redirect(request))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        self.note(error.map { "failed \(($0 as NSError).code)" } ?? "complete")
        self.end.yield()
    }
}
