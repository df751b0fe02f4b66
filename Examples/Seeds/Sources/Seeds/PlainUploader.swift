import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Uploads with a `URLSession` and nothing else, with completion handlers and with a delegate.
public final class PlainUploader: Sendable {
    private let url: URL
    private let configuration: URLSessionConfiguration

    public init(_ url: URL, configuration: URLSessionConfiguration = .default) {
        self.url = url.appendingPathComponent("upload")
        self.configuration = configuration
    }

    private func request(_ form: HandMadeForm) -> URLRequest {
        var request = URLRequest(url: self.url)
        request.httpMethod = "POST"
        request.setValue(form.contentType, forHTTPHeaderField: "Content-Type")
        return request
    }

    public func dataTask(_ form: HandMadeForm, completion: @escaping @Sendable (Result<Receipt, any Error>) -> Void) {
        var request = self.request(form)
        request.httpBody = form.body
        let session = URLSession(configuration: self.configuration)
        session.dataTask(with: request) { data, _, error in completion(Self.result(data, error)) }.resume()
        session.finishTasksAndInvalidate()
    }

    public func uploadTask(_ form: HandMadeForm, completion: @escaping @Sendable (Result<Receipt, any Error>) -> Void) {
        let session = URLSession(configuration: self.configuration)
        session.uploadTask(with: self.request(form), from: form.body) { data, _, error in completion(Self.result(data, error)) }.resume()
        session.finishTasksAndInvalidate()
    }

    public func uploadTask(file: URL, as form: HandMadeForm, completion: @escaping @Sendable (Result<Receipt, any Error>) -> Void) {
        let session = URLSession(configuration: self.configuration)
        session.uploadTask(with: self.request(form), fromFile: file) { data, _, error in completion(Self.result(data, error)) }.resume()
        session.finishTasksAndInvalidate()
    }

    /// The receipt, and how many bytes the delegate was told of.
    public func delegated(_ form: HandMadeForm) async throws -> (receipt: Receipt, sent: Int64) {
        let delegate = UploadDelegate()
        return try await withCheckedThrowingContinuation { continuation in
            delegate.whenDone { data, sent, error in
                continuation.resume(with: Self.result(data, error).map { ($0, sent) })
            }
            let session = URLSession(configuration: self.configuration, delegate: delegate, delegateQueue: nil)
            session.uploadTask(with: self.request(form), from: form.body).resume()
            session.finishTasksAndInvalidate()
        }
    }

    private static func result(_ data: Data?, _ error: (any Error)?) -> Result<Receipt, any Error> {
        if let error { return .failure(error) }
        return Result { try JSONDecoder().decode(Receipt.self, from: data ?? Data()) }
    }
}

private final class UploadDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    // SAFETY: touched under the lock alone.
    private var data = Data()
    private var sent: Int64 = 0
    private var done: (@Sendable (Data, Int64, (any Error)?) -> Void)?
    private let lock = NSLock()

    func whenDone(_ done: @escaping @Sendable (Data, Int64, (any Error)?) -> Void) { self.lock.withLock { self.done = done } }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        self.lock.withLock { self.sent = totalBytesSent }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        self.lock.withLock { self.data.append(data) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let (data, sent, done) = self.lock.withLock { (self.data, self.sent, self.done) }
        done?(data, sent, error)
    }
}
