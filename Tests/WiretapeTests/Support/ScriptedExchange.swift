import Foundation
import TapeBytes

@testable import Wiretape

/// An exchange of a `ScriptedTransport`.
final class ScriptedExchange: TransportTask {
    private struct State {
        var receive: (@Sendable (TransportEvent) -> Demand)?
        var isCancelled = false
        var resumes = 0
        var demand = Demand.more
    }

    let request: TransportRequest
    private let obeysCancels: Bool
    private let state: Guarded<State>

    init(_ request: TransportRequest, obeysCancels: Bool, _ receive: @escaping @Sendable (TransportEvent) -> Demand) {
        self.request = request
        self.obeysCancels = obeysCancels
        self.state = Guarded(State(receive: receive))
    }

    var isCancelled: Bool { self.state.withLock { $0.isCancelled } }
    var resumes: Int { self.state.withLock { $0.resumes } }
    /// The receiver's answer to the last event.
    var demand: Demand { self.state.withLock { $0.demand } }

    /// Sends nothing after an end.
    @discardableResult
    func send(_ event: TransportEvent) -> Demand {
        let receive = self.state.withLock { state in
            defer { if event.isLast { state.receive = nil } }
            return state.receive
        }
        let demand = receive?(event) ?? .more
        self.state.withLock { $0.demand = demand }
        return demand
    }

    func head(_ status: Int = 200, _ headers: HTTPSession.Headers = [:], source: ExchangeSource = .stub) {
        self.send(.head(HTTPSession.Response(url: self.request.url, status: status, headers: headers, source: source)))
    }

    @discardableResult
    func chunk(_ text: String) -> Demand { self.send(.chunk(Data(text.utf8))) }

    /// A complete answer.
    func answer(_ status: Int = 200, _ headers: HTTPSession.Headers = [:], _ text: String = "", source: ExchangeSource = .stub) {
        self.head(status, headers, source: source)
        if !text.isEmpty { self.chunk(text) }
        self.send(.end)
    }

    func cancel() {
        self.state.withLock { $0.isCancelled = true }
        if self.obeysCancels { self.send(.failed(.cancelled())) }
    }

    func resume() { self.state.withLock { $0.resumes += 1 } }
}
