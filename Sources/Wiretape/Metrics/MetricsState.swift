public import Foundation

/// Makes the metrics of one request from its events.
///
/// Knows no clock: who reports an event says when it happened.
public struct MetricsState: Sendable {
    public private(set) var metrics: RequestMetrics
    /// Taken for the next exchange.
    private var retryCount = 0

    /// Attempts and hops beyond this many are not kept: no sensible request has them.
    public static let hopLimit = 1000

    /// - Parameter startTime: of the request.
    public init(startTime: Date) { self.metrics = RequestMetrics(timeline: Timeline(startTime: startTime)) }

    /// - Parameter time: since the start.
    public mutating func happened(_ event: SessionEvent.Kind, at time: Duration) {
        switch event {
        case .started(let request):
            guard self.metrics.hops.count < Self.hopLimit else { return }
            self.metrics.hops.append(HopMetrics(method: request.method, url: request.url, retryCount: self.retryCount, sentAt: time))
            // What came before does not count once the request is sent again.
            self.metrics.timeline.latency = nil
            self.metrics.timeline.requestDuration = nil
        case .transport(let event): self.happened(event, at: time)
        case .retried(let count, _, _): self.retryCount = count
        case .serialized: self.metrics.timeline.totalSerialized = time
        case .cancelled, .finished:
            // An exchange that was given up, or none at all.
            if self.metrics.timeline.requestDuration == nil { self.metrics.timeline.requestDuration = time }
        case .created, .adapted, .redirected, .validated, .suspended, .resumed: return
        }
    }

    private mutating func happened(_ event: TransportEvent, at time: Duration) {
        guard let last = self.metrics.hops.indices.last else { return }
        switch event {
        case .sent(let octets, let all):
            if octets >= all { self.metrics.hops[last].bodySentAt = time }
        case .head(let response):
            self.metrics.hops[last].status = response.status
            self.metrics.hops[last].source = response.source
            self.metrics.hops[last].headAt = time
            self.metrics.timeline.latency = time
        case .chunk(let data): self.metrics.hops[last].take(HopMetrics.Piece(at: time, size: data.count))
        case .metrics(let reported): self.metrics.hops[last].reported = reported
        case .end: self.ended(last, at: time)
        case .failed(let failure):
            self.metrics.hops[last].failure = failure.kind.word
            self.ended(last, at: time)
        case .interim, .trailers: return
        }
    }

    private mutating func ended(_ hop: Int, at time: Duration) {
        self.metrics.hops[hop].endedAt = time
        self.metrics.timeline.requestDuration = time
    }
}
