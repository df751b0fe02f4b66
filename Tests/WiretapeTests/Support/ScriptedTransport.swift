import Foundation
import TapeBytes

@testable import Wiretape

/// A transport that a test controls, exchange by exchange.
final class ScriptedTransport: Transport {
    private struct State {
        var exchanges: [ScriptedExchange] = []
        var waiting: [(number: Int, continuation: CheckedContinuation<ScriptedExchange, Never>)] = []
    }

    private let state = Guarded(State())
    private let obeysCancels: Bool
    /// Runs within `start`.
    private let starting: @Sendable (ScriptedExchange, Int) -> Void

    /// - Parameter obeysCancels: false for a transport that ignores a cancellation.
    init(obeysCancels: Bool = true, starting: @escaping @Sendable (ScriptedExchange, Int) -> Void = { _, _ in }) {
        self.obeysCancels = obeysCancels
        self.starting = starting
    }

    var requests: [TransportRequest] { self.state.withLock { $0.exchanges.map(\.request) } }

    func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
        let exchange = ScriptedExchange(request, obeysCancels: self.obeysCancels, receive)
        let (number, ready) = self.state.withLock { state in
            state.exchanges.append(exchange)
            let number = state.exchanges.count
            let ready = state.waiting.filter { $0.number <= number }
            state.waiting.removeAll { $0.number <= number }
            return (number, ready)
        }
        self.starting(exchange, number)
        for waiter in ready { waiter.continuation.resume(returning: exchange) }
        return exchange
    }

    /// Waits for the exchange with that number, from 1.
    func exchange(_ number: Int) async -> ScriptedExchange {
        await withCheckedContinuation { continuation in
            let exchange = self.state.withLock { state -> ScriptedExchange? in
                guard state.exchanges.count < number else { return state.exchanges[number - 1] }
                state.waiting.append((number, continuation))
                return nil
            }
            if let exchange { continuation.resume(returning: exchange) }
        }
    }
}
