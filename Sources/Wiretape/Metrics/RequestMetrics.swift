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
