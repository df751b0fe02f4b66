internal import TapeBytes
internal import TapeTestSupport
internal import Wiretape

#if canImport(FoundationNetworking)
internal import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// A foreign URLSession, whose delegate accepts redirects and challenges as responses, as a transport does.
package struct SessionWay: Way {
    package let kind: WayKind
    private let configuration: URLSessionConfiguration

    package init(_ kind: WayKind, _ configuration: URLSessionConfiguration) {
        self.kind = kind
        self.configuration = configuration
    }

    package func lines(of behaviour: Behaviour, at origin: String) async throws -> [String] {
        let folder = try TemporaryFolder()
        let delegate = Delegate(behaviour, givesUp: behaviour.cancelsAfter != nil && !self.kind.waitsForTheEnd)
        let session = URLSession(configuration: self.configuration, delegate: delegate, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        var request = URLRequest(url: URL(string: origin + behaviour.path) ?? URL(fileURLWithPath: "/"))
        request.httpMethod = behaviour.method
        for (name, value) in behaviour.headers { request.addValue(value, forHTTPHeaderField: name) }
        let task: URLSessionTask
        switch behaviour.body {
        case .none: task = behaviour.isDownload ? session.downloadTask(with: request) : session.dataTask(with: request)
        case .data(let data):
            request.httpBody = data
            task = session.dataTask(with: request)
        case .file(let data):
            try folder.write(Array(data), to: "body")
            task = session.uploadTask(with: request, fromFile: URL(fileURLWithPath: folder.file("body")))
        case .stream: task = session.uploadTask(withStreamedRequest: request)
        }
        let log = await delegate.run(task)
        withExtendedLifetime(folder) {}
        return log.lines(of: behaviour, at: origin)
    }

    private final class Delegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, Sendable {
        private let behaviour: Behaviour
        private let givesUp: Bool
        private let log = EventLog()
        private let isAnswered = Guarded(false)

        init(_ behaviour: Behaviour, givesUp: Bool) {
            self.behaviour = behaviour
            self.givesUp = givesUp
        }

        func run(_ task: URLSessionTask) async -> EventLog {
            task.resume()
            await self.log.wait()
            return self.log
        }

        private func received(_ response: URLResponse?) {
            guard let response = response as? HTTPURLResponse else { return }
            let head = response.exactHead ?? Self.head(response, self.behaviour.looksAt + [EventLog.proxyError])
            guard head.status >= 200 else { return _ = self.log.receive(.interim(status: head.status, headers: head.headers)) }
            // A redirect that is not followed may be reported twice.
            let isFirst = self.isAnswered.withLock { isAnswered in
                defer { isAnswered = true }
                return !isAnswered
            }
            if isFirst { _ = self.log.receive(.head(head)) }
        }

        /// For a response of the system itself, in which fields of one name are joined.
        private static func head(_ response: HTTPURLResponse, _ names: [String]) -> HTTPSession.Response {
            let fields = names.compactMap { name in
                response.value(forHTTPHeaderField: name).map { HTTPSession.Header(name: name, value: $0) }
            }
            return HTTPSession.Response(
                url: response.url ?? URL(fileURLWithPath: "/"), status: response.statusCode, headers: HTTPSession.Headers(fields))
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            self.received(response)
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            _ = self.log.receive(.chunk(data))
            if self.givesUp { dataTask.cancel() }
        }

        func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
            self.received(downloadTask.response)
            _ = self.log.receive(.chunk((try? Data(contentsOf: location)) ?? Data("no file".utf8)))
            // The system leaves it behind on Linux.
            try? FileManager.default.removeItem(at: location)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
            totalBytesExpectedToSend: Int64
        ) {
            _ = self.log.receive(.sent(totalBytesSent, of: totalBytesExpectedToSend))
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            completionHandler(self.behaviour.body.bytes.map { InputStream(data: $0) })
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            completionHandler(nil)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            // Up to Swift 6.3.1, nothing more would follow default handling.
            completionHandler(.cancelAuthenticationChallenge, nil)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            _ = self.log.receive(error.map { .failed(Self.failure($0)) } ?? .end)
        }

        /// Our own failure, or a code of the system.
        private static func failure(_ error: any Error) -> TransportFailure {
            let system = error as NSError
            if let failure = TransportFailure(error) { return failure }
            let isCancelled = system.domain == NSURLErrorDomain && system.code == NSURLErrorCancelled
            return isCancelled ? .cancelled() : TransportFailure(.unsupported, "\(system.domain) \(system.code)")
        }
    }
}
