import Foundation
import TapeBytes

@testable import Wiretape

/// A scripted transport, exchange by exchange; counts its calls.
final class AdapterTransport: Transport, Sendable {
    private struct Contents: Sendable {
        var requests: [TransportRequest] = []
        var receivers: [@Sendable (TransportEvent) -> Demand] = []
        var cancelled: [Int] = []
    }

    private let contents = Guarded(Contents())
    private let answer: @Sendable (TransportRequest) -> [TransportEvent]
    /// Signalled whenever an exchange starts.
    let started = DispatchSemaphore(value: 0)

    /// - Parameter answer: the events before `start` returns.
    init(_ answer: @escaping @Sendable (TransportRequest) -> [TransportEvent] = { _ in [] }) { self.answer = answer }

    func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
        let number = self.contents.withLock { contents in
            contents.requests.append(request)
            contents.receivers.append(receive)
            return contents.requests.count - 1
        }
        for event in self.answer(request) { _ = receive(event) }
        self.started.signal()
        return Exchange(transport: self, number: number)
    }

    /// Sends later events to an exchange.
    func send(_ events: [TransportEvent], to number: Int = 0) {
        let receive = self.contents.withLock { $0.receivers[number] }
        for event in events { _ = receive(event) }
    }

    var requests: [TransportRequest] { self.contents.withLock { $0.requests } }
    var cancelled: [Int] { self.contents.withLock { $0.cancelled } }

    private struct Exchange: TransportTask {
        let transport: AdapterTransport
        let number: Int

        func cancel() { self.transport.contents.withLock { $0.cancelled.append(self.number) } }
        func resume() {}
    }
}

extension [TransportEvent] {
    /// A complete answer, with each piece of the body as an event.
    static func answer(
        _ request: TransportRequest, status: Int = 200, headers: HTTPSession.Headers = HTTPSession.Headers(), _ pieces: String...
    ) -> [TransportEvent] {
        [.head(HTTPSession.Response(url: request.url, status: status, headers: headers, source: .stub))]
            + pieces.map { .chunk(Data($0.utf8)) } + [.end]
    }
}
