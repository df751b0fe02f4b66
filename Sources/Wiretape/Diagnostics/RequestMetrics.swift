internal import CassetteModel
public import Foundation
internal import TapeBytes

/// All times of one request: its timeline, and each of its exchanges.
public struct RequestMetrics: Sendable, Hashable {
    public var timeline: RequestMetrics.Timeline
    /// In the order in which they were sent: redirects and retries each have one.
    public var hops: [RequestMetrics.Hop]

    public init(timeline: RequestMetrics.Timeline, hops: [RequestMetrics.Hop] = []) {
        self.timeline = timeline
        self.hops = hops
    }

    /// How often the request was sent, not counting redirects.
    public var attempts: Int { self.hops.map(\.retryCount).max().map { $0 + 1 } ?? 0 }
}

extension RequestMetrics: CustomStringConvertible {
    /// The timeline, and a line for each exchange.
    public var description: String {
        ([self.timeline.description] + self.hops.map { "  \(HopText.line($0))" }).joined(separator: "\n")
    }
}

extension RequestMetrics {
    /// One exchange as the session saw it: one hop of one attempt.
    ///
    /// All durations count from the start of the request.
    public struct Hop: Sendable, Hashable {
        /// A piece of the body.
        public struct Piece: Sendable, Hashable {
            public var at: Duration
            /// In bytes, after decoding.
            public var size: Int

            public init(at: Duration, size: Int) {
                self.at = at
                self.size = size
            }
        }

        public var method: String
        public var url: URL
        /// 0 for the first attempt.
        public var retryCount: Int
        public var sentAt: Duration
        /// When the last byte of the request's body was sent; nil if there was none or the transport does not report it.
        public var bodySentAt: Duration?
        /// The status of the response; nil before its head.
        public var status: Int?
        public var source: ExchangeSource?
        public var headAt: Duration?
        public var pieces: [Piece] = []
        /// True when pieces beyond `Arrival.pieceLimit` were merged into the last one.
        public var isThinned = false
        /// When it ended or failed; nil before.
        public var endedAt: Duration?
        /// The kind of the failure, if the exchange failed.
        public var failure: String?
        /// As reported by the transport: the platform's metrics, or the cassette's.
        public var reported: ExchangeMetrics?

        public init(method: String, url: URL, retryCount: Int = 0, sentAt: Duration) {
            self.method = method
            self.url = url
            self.retryCount = retryCount
            self.sentAt = sentAt
        }

        /// Bytes of the body received so far, after decoding.
        public var received: Int { self.pieces.reduce(0) { $0 + $1.size } }

        /// As measured by the session, in the terms of a cassette.
        public var measured: ExchangeMetrics {
            let sent = self.bodySentAt ?? self.sentAt
            var timing = Timing()
            timing.send = self.bodySentAt.map { ($0 - self.sentAt).milliseconds }
            // A response may arrive before the request has ended.
            timing.wait = self.headAt.map { max(.zero, $0 - sent).milliseconds }
            if let head = self.headAt, let end = self.endedAt { timing.receive = (end - head).milliseconds }
            timing.total = self.endedAt.map { ($0 - self.sentAt).milliseconds }
            let head = self.headAt ?? self.sentAt
            return ExchangeMetrics(
                source: .session, timing: timing, pieces: self.pieces.map { Arrival.Piece(at: ($0.at - head).milliseconds, size: $0.size) })
        }

        /// The transport's metrics, or else the session's. For a replay, these are the server's times, not the time it took to read a file.
        public var best: ExchangeMetrics { self.reported ?? self.measured }

        mutating func take(_ piece: Piece) {
            guard self.pieces.count >= Arrival.pieceLimit, let last = self.pieces.indices.last else {
                self.pieces.append(piece)
                return
            }
            self.isThinned = true
            self.pieces[last].size += piece.size
        }
    }
}

/// The times of one exchange on one line, for people.
enum HopText {
    /// `GET http://a/x: 200 recorded as 2; 12.3 ms (wait 10.1, receive 2.2); 1024 bytes in 3 pieces`.
    static func line(_ hop: RequestMetrics.Hop) -> String {
        let again = hop.retryCount > 0 ? " (retry \(hop.retryCount))" : ""
        return "\(hop.method) \(LogURL.text(hop.url))\(again): \(self.outcome(hop))\(self.times(hop.best))\(self.body(hop))"
    }

    private static func outcome(_ hop: RequestMetrics.Hop) -> String {
        let from =
            switch hop.source {
            case .live, nil: ""
            case .stub: " from a stub"
            case .recorded(_, let id): " recorded as \(id)"
            case .replayed(_, let id): " replayed from \(id)"
            }
        if let failure = hop.failure { return (hop.status.map { "\($0)\(from), then " } ?? "") + "failed, \(failure)" }
        return (hop.status.map { "\($0)\(from)" } ?? "no response yet")
    }

    private static func times(_ metrics: ExchangeMetrics) -> String {
        let timing = metrics.timing
        let phases: [(String, Double?)] = [
            ("blocked", timing.blocked), ("dns", timing.dns), ("connect", timing.connect), ("tls", timing.tls), ("send", timing.send),
            ("wait", timing.wait), ("receive", timing.receive),
        ]
        let words = phases.compactMap { name, value in value.map { "\(name) \(self.number($0))" } }
        let total = timing.total.map { "; \(self.number($0)) ms" } ?? ""
        let by =
            switch metrics.source {
            case .recording: " when it was recorded"
            case .platform, .session: ""
            }
        return total + by + (words.isEmpty ? "" : " (\(words.joined(separator: ", ")))")
    }

    private static func body(_ hop: RequestMetrics.Hop) -> String {
        guard !hop.pieces.isEmpty else { return "" }
        return "; \(hop.received) bytes in \(hop.pieces.count)\(hop.isThinned ? " or more" : "") piece\(hop.pieces.count == 1 ? "" : "s")"
    }

    private static func number(_ milliseconds: Double) -> String { String(format: "%.1f", locale: nil, milliseconds) }
}

extension RequestMetrics {
    /// Makes the metrics of one request from its events.
    ///
    /// Knows no clock: the caller reports each event with its time.
    public struct State: Sendable {
        public private(set) var metrics: RequestMetrics
        /// For the next exchange.
        private var retryCount = 0

        /// Further exchanges are not kept: no sensible request has so many.
        public static let hopLimit = 1000

        /// - Parameter startTime: when the request was sent first.
        public init(startTime: Date) { self.metrics = RequestMetrics(timeline: Timeline(startTime: startTime)) }

        /// - Parameter time: since the start.
        public mutating func happened(_ event: HTTPSession.Event.Kind, at time: Duration) {
            switch event {
            case .started(let request):
                guard self.metrics.hops.count < Self.hopLimit else { return }
                self.metrics.hops.append(Hop(method: request.method, url: request.url, retryCount: self.retryCount, sentAt: time))
                // Earlier times do not count once the request is sent again.
                self.metrics.timeline.latency = nil
                self.metrics.timeline.requestDuration = nil
            case .transport(let event): self.happened(event, at: time)
            case .retried(let count, _, _):
                self.retryCount = count
                self.metrics.timeline.requestDuration = nil
            case .serialized: self.metrics.timeline.serializationCompleted = time
            case .cancelled, .finished:
                // The exchange was abandoned, or there was none.
                if self.metrics.timeline.requestDuration == nil { self.metrics.timeline.requestDuration = time }
            case .created, .adapted, .redirected, .validated, .suspended, .resumed: return
            }
        }

        private mutating func happened(_ event: TransportEvent, at time: Duration) {
            guard let last = self.metrics.hops.indices.last else { return }
            switch event {
            case .sent(let count, let total):
                if count >= total { self.metrics.hops[last].bodySentAt = time }
            case .head(let response):
                self.metrics.hops[last].status = response.status
                self.metrics.hops[last].source = response.source
                self.metrics.hops[last].headAt = time
                self.metrics.timeline.latency = time
            case .chunk(let data): self.metrics.hops[last].take(Hop.Piece(at: time, size: data.count))
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

    /// When the steps of one request ended, from its start to the last serializer, with retries and redirects.
    ///
    /// Durations are measured by the session's clock, so that changes of the system time do not affect them.
    public struct Timeline: Sendable, Hashable {
        /// When the request was sent for the first time.
        public var startTime: Date
        /// From the start to the head of the final response; nil before.
        public var latency: Duration?
        /// From the start to the end of the response, or to the failure.
        public var requestDuration: Duration?
        /// From the start to the end of the last serializer; nil if nothing was serialized.
        public var serializationCompleted: Duration?

        public init(startTime: Date, latency: Duration? = nil, requestDuration: Duration? = nil, serializationCompleted: Duration? = nil) {
            self.startTime = startTime
            self.latency = latency
            self.requestDuration = requestDuration
            self.serializationCompleted = serializationCompleted
        }

        public var initialResponseTime: Date? { self.time(after: self.latency) }
        public var requestCompletedTime: Date? { self.time(after: self.requestDuration) }
        public var serializationCompletedTime: Date? { self.time(after: self.serializationCompleted) }

        /// From the end of the response to the end of the last serializer.
        public var serializationDuration: Duration? {
            guard let serializationCompleted, let requestDuration else { return nil }
            return serializationCompleted - requestDuration
        }

        /// From the start to the last known step.
        public var totalDuration: Duration? { self.serializationCompleted ?? self.requestDuration ?? self.latency }

        private func time(after duration: Duration?) -> Date? {
            duration.map { self.startTime.addingTimeInterval($0.milliseconds / 1000) }
        }
    }
}

extension RequestMetrics.Timeline: CustomStringConvertible {
    public var description: String { "Timeline: { \(Self.line(self.durations)) }" }

    private var durations: [(name: String, value: String?)] {
        [
            ("Latency", Self.text(self.latency)), ("Request Duration", Self.text(self.requestDuration)),
            ("Serialization Duration", Self.text(self.serializationDuration)), ("Total Duration", Self.text(self.totalDuration)),
        ]
    }

    private static func line(_ values: [(name: String, value: String?)]) -> String {
        values.compactMap { name, value in value.map { "\"\(name)\": \($0)" } }.joined(separator: ", ")
    }

    private static func text(_ duration: Duration?) -> String? { duration.map { "\($0.secondsText) secs" } }
}

extension RequestMetrics.Timeline: CustomDebugStringConvertible {
    /// With the times in UTC.
    public var debugDescription: String {
        let times: [(name: String, value: String?)] = [
            ("Request Start Time", self.startTime), ("Initial Response Time", self.initialResponseTime),
            ("Request Completed Time", self.requestCompletedTime), ("Serialization Completed Time", self.serializationCompletedTime),
        ]
        .map { name, time in (name, time.map { Timestamp($0).formatted }) }
        return "Timeline: { \(Self.line(times + self.durations)) }"
    }
}
