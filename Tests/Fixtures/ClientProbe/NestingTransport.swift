import Foundation
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Answers through a URLSession of its own, like a recording transport.
struct NestingTransport: Transport {
    private let session = URLSession(configuration: .answered(by: ScriptedTransport { ScriptedTransport.answer($0, body: "inner") }))

    func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
        let task = self.session.dataTask(with: request.url) { data, response, error in
            let head = (response as? HTTPURLResponse)?.exactHead
            guard let data, let head else {
                _ = receive(.failed(TransportFailure(.network(.reset), "the inner request failed", cause: error)))
                return
            }
            for event in [.head(head), .chunk(data), .end] as [TransportEvent] { _ = receive(event) }
        }
        task.resume()
        return Running(task: task)
    }

    private struct Running: TransportTask {
        let task: URLSessionDataTask

        func cancel() { self.task.cancel() }
        func resume() {}
    }
}
