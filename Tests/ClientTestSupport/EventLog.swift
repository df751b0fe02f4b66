package import Foundation
internal import TapeBytes
package import Wiretape

/// Collects the events of an exchange and shows them as lines.
package final class EventLog: Sendable {
    private struct State: Sendable {
        var events: [TransportEvent] = []
        var pauses: Set<Int> = []
        var waiting: [(count: Int?, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Guarded(State())

    /// - Parameter pauses: the numbers of events, from 0, that are answered with `pause`.
    package init(pauses: Set<Int> = []) { self.state.withLock { $0.pauses = pauses } }

    package func receive(_ event: TransportEvent) -> Demand {
        let (demand, ready) = self.state.withLock { state in
            state.events.append(event)
            let count = state.events.count
            let ready = state.waiting.filter { event.isLast || $0.count.map { $0 <= count } ?? false }
            state.waiting.removeAll { event.isLast || $0.count.map { $0 <= count } ?? false }
            return (state.pauses.contains(count - 1) ? Demand.pause : .more, ready)
        }
        for waiter in ready { waiter.continuation.resume() }
        return demand
    }

    package var events: [TransportEvent] { self.state.withLock { $0.events } }

    /// Waits for the last event, or for this many events.
    package func wait(for count: Int? = nil) async {
        await withCheckedContinuation { continuation in
            let isThere = self.state.withLock { state in
                let isThere = state.events.last?.isLast ?? false || count.map { $0 <= state.events.count } ?? false
                if !isThere { state.waiting.append((count, continuation)) }
                return isThere
            }
            if isThere { continuation.resume() }
        }
    }

    /// One line for each event, with bodies as text and without metrics.
    package var lines: [String] {
        self.events.compactMap { event in
            switch event {
            case .sent(let count, let total): "sent \(count) of \(total)"
            case .interim(let status, _): "interim \(status)"
            case .head(let head): "head \(head.status)"
            case .chunk(let data): "chunk \(data.count > 100 ? "of \(data.count)" : String(decoding: data, as: UTF8.self))"
            case .trailers(let fields): "trailers \(fields.map { "\($0.name): \($0.value)" }.joined(separator: ", "))"
            case .metrics: nil
            case .end: "end"
            case .failed(let failure): "failed \(Self.name(failure.kind))"
            }
        }
    }

    private static func name(_ kind: TransportFailure.Kind) -> String {
        switch kind {
        case .network(let kind): kind.rawValue
        case .noMatch: "no match"
        case .unserved: "unserved"
        case .unsupported: "unsupported"
        case .body: "body"
        }
    }

    package var failure: TransportFailure? {
        self.events.lazy.compactMap { if case .failed(let failure) = $0 { failure } else { nil } }.first
    }

    package var head: HTTPSession.Response? { self.events.lazy.compactMap { if case .head(let head) = $0 { head } else { nil } }.first }

    package var body: Data { self.events.reduce(into: Data()) { if case .chunk(let data) = $1 { $0 += data } } }

    package var metrics: ExchangeMetrics? {
        self.events.lazy.compactMap { if case .metrics(let metrics) = $0 { metrics } else { nil } }.first
    }
}

extension Transport {
    /// Sends a request and waits for its end.
    package func exchange(_ request: TransportRequest) async -> EventLog {
        let log = EventLog()
        let task = self.start(request) { log.receive($0) }
        await log.wait()
        withExtendedLifetime(task) {}
        return log
    }

    package func exchange(_ method: String, _ url: String, body: RequestBody = .none, headers: [(String, String)] = []) async throws
        -> EventLog
    {
        await self.exchange(.make(method, url, body: body, headers: headers))
    }
}

extension TransportRequest {
    package static func make(_ method: String, _ url: String, body: RequestBody = .none, headers: [(String, String)] = [])
        -> TransportRequest
    {
        TransportRequest(
            method: method, url: URL(string: url) ?? URL(fileURLWithPath: "/"),
            headers: HTTPSession.Headers(headers.map { HTTPSession.Header(name: $0.0, value: $0.1) }), body: body)
    }
}
