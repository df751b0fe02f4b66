import Foundation
import Wiretape

/// Holds its answer back until the caller releases it, whatever happens to the request.
final class HeldTransport: Transport, @unchecked Sendable {
    // SAFETY: set before `started` is signalled, and read by the thread that has waited for it.
    private var send: (@Sendable (TransportEvent) -> Demand)?
    private var request: TransportRequest?
    let started = DispatchSemaphore(value: 0)

    func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
        (self.send, self.request) = (receive, request)
        self.started.signal()
        return Deaf()
    }

    func answer() {
        guard let request, let send else { return }
        for event in ScriptedTransport.answer(request, body: "late") { _ = send(event) }
    }

    private struct Deaf: TransportTask {
        func cancel() {}
        func resume() {}
    }
}
