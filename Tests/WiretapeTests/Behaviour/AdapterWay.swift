import Foundation
import TapeCore

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Through a URLSession of others, whose delegate takes redirects for answers as a transport does.
struct AdapterWay: Way {
    let kind = WayKind.adapter
    let configuration: URLSessionConfiguration

    func lines(of behaviour: Behaviour, at origin: String) async -> [String] {
        let request = behaviour.request(to: origin)
        let delegate = Delegate(behaviour)
        let session = URLSession(configuration: self.configuration, delegate: delegate, delegateQueue: nil)
        let outgoing = LoadRequest.urlRequest(request)
        let task: URLSessionDataTask =
            if case .file(let url, _) = request.body { session.uploadTask(with: outgoing, fromFile: url) } else {
                session.dataTask(with: outgoing)
            }
        return await delegate.run(task)
    }

    private final class Delegate: NSObject, URLSessionDataDelegate, Sendable {
        private struct Seen: Sendable {
            var head: HTTPResponse?
            var body = Data()
        }

        private let behaviour: Behaviour
        private let seen = Guarded(Seen())
        private let (ends, end) = AsyncStream.makeStream(of: [String].self)

        init(_ behaviour: Behaviour) { self.behaviour = behaviour }

        func run(_ task: URLSessionDataTask) async -> [String] {
            task.resume()
            for await lines in self.ends { return lines }
            return []
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            self.seen.withLock { $0.head = (response as? HTTPURLResponse)?.exactHead }
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            self.seen.withLock { $0.body += data }
            if self.behaviour.cancelsAfter != nil { dataTask.cancel() }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            completionHandler(nil)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            let log = EventLog()
            let seen = self.seen.withLock { $0 }
            if let head = seen.head { _ = log.receive(.head(head)) }
            if !seen.body.isEmpty { _ = log.receive(.chunk(seen.body)) }
            _ = log.receive(error.map { .failed(Self.failure($0)) } ?? .end)
            self.end.yield(log.behaviour(looksAt: self.behaviour.looksAt))
        }

        /// URLSession itself reports a cancellation.
        private static func failure(_ error: any Error) -> TransportFailure {
            let isCancelled = (error as NSError).domain == NSURLErrorDomain && (error as NSError).code == NSURLErrorCancelled
            return TransportFailure(error) ?? (isCancelled ? .cancelled() : TransportFailure(.unsupported, "\(error)"))
        }
    }
}
