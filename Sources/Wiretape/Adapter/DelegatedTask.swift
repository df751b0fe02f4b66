#if canImport(FoundationNetworking)
internal import Foundation
internal import FoundationNetworking
internal import TapeBytes

/// A task whose delegate is asked and told by us, on its own queue, of what URLSession does not do for the loads of others on Linux.
struct DelegatedTask: Sendable {
    let task: URLSessionTask
    let session: URLSession
    let delegate: any URLSessionTaskDelegate
    private let octets = Guarded<Int64>(0)

    init(task: URLSessionTask, session: URLSession, delegate: any URLSessionTaskDelegate) {
        (self.task, self.session, self.delegate) = (task, session, delegate)
    }

    func decide(_ response: HTTPResponse, _ proposed: TransportRequest, _ decided: @escaping @Sendable (TransportRequest?) -> Void) {
        guard let shown = TapedURLResponse(response) else { return decided(proposed) }
        let request = LoadRequest.urlRequest(proposed)
        self.session.delegateQueue.addOperation {
            self.delegate.urlSession(self.session, task: self.task, willPerformHTTPRedirection: shown, newRequest: request) { answer in
                decided(answer.map { LoadRequest.transportRequest($0, insteadOf: proposed) })
            }
        }
    }

    /// - Parameter count: of all that have gone out.
    func sent(_ count: Int64, of total: Int64) {
        let new = self.octets.withLock { before in
            defer { before = max(before, count) }
            return count - before
        }
        guard new > 0 else { return }
        self.session.delegateQueue.addOperation {
            self.delegate.urlSession(
                self.session, task: self.task, didSendBodyData: new, totalBytesSent: count, totalBytesExpectedToSend: total)
        }
    }
}
#endif
