import Foundation
import Wiretape

/// Gives the scripted answer: immediately, or later and from another thread.
struct ScriptedTransport: Transport {
    private static let queue = DispatchQueue(label: "probe.transport", attributes: .concurrent)

    var isLater = false
    var events: @Sendable (TransportRequest) -> [TransportEvent]

    func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
        let events = self.events(request)
        let send: @Sendable () -> Void = { for event in events { _ = receive(event) } }
        if self.isLater { Self.queue.async(execute: send) } else { send() }
        return Ended()
    }

    private struct Ended: TransportTask {
        func cancel() {}
        func resume() {}
    }

    static func answer(
        _ request: TransportRequest, status: Int = 200, headers: [(String, String)] = [], body: String = "", trailers: Bool = false
    ) -> [TransportEvent] {
        let headers = HTTPSession.Headers(headers.map { HTTPSession.Header(name: $0.0, value: $0.1) })
        var events: [TransportEvent] = [.head(HTTPSession.Response(url: request.url, status: status, headers: headers, source: .stub))]
        if !body.isEmpty { events.append(.chunk(Data(body.utf8))) }
        if trailers { events.append(.trailers(HTTPSession.Headers([HTTPSession.Header(name: "X-Trailer", value: "1")]))) }
        return events + [.end]
    }
}
