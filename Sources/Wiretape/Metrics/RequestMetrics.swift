internal import CassetteModel
internal import Foundation

/// All times of one request: its timeline, and each exchange that it took.
public struct RequestMetrics: Sendable, Hashable {
    public var timeline: Timeline
    /// In the order in which they were sent: redirects and retries each have one.
    public var hops: [HopMetrics]

    public init(timeline: Timeline, hops: [HopMetrics] = []) {
        self.timeline = timeline
        self.hops = hops
    }

    /// How often the request was sent, redirects not counted.
    public var attempts: Int { self.hops.map(\.retryCount).max().map { $0 + 1 } ?? 0 }
}

extension RequestMetrics: CustomStringConvertible {
    /// The timeline, and a line for each exchange.
    public var description: String {
        ([self.timeline.description] + self.hops.map { "  \(HopText.line($0))" }).joined(separator: "\n")
    }
}

/// One exchange's times on one line, for people.
enum HopText {
    /// `GET http://a/x: 200 recorded, 12.3 ms: waited 10.1, received 2.2; 3 pieces, 1024 octets`.
    static func line(_ hop: HopMetrics) -> String {
        let again = hop.retryCount > 0 ? " (retry \(hop.retryCount))" : ""
        return "\(hop.method) \(LogURL.text(hop.url))\(again): \(self.outcome(hop))\(self.times(hop.best))\(self.body(hop))"
    }

    private static func outcome(_ hop: HopMetrics) -> String {
        let from =
            switch hop.source {
            case .live, nil: ""
            case .stub: " from a stub"
            case .recorded(_, let id): " recorded as \(id)"
            case .replayed(_, let id): " replayed from \(id)"
            }
        if let failure = hop.failure { return (hop.status.map { "\($0)\(from), then " } ?? "") + "failed, \(failure)" }
        return (hop.status.map { "\($0)\(from)" } ?? "no answer yet")
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

    private static func body(_ hop: HopMetrics) -> String {
        guard !hop.pieces.isEmpty else { return "" }
        return "; \(hop.received) octets in \(hop.pieces.count)\(hop.isThinned ? " or more" : "") piece\(hop.pieces.count == 1 ? "" : "s")"
    }

    private static func number(_ milliseconds: Double) -> String { String(format: "%.1f", locale: nil, milliseconds) }
}
