/// Answers from a cassette: no network, no `URLSession`.
///
/// Without latency the whole answer comes before `start` returns, but for bodies of more than 256 KiB: those are read while they are
/// given. What was recorded from a client or by the proxy comes as a client sees it: header fields as they came, Content-Encoding and
/// Content-Length included, and the body without its codings, in the pieces in which it came. Of a body whose codings were taken off
/// nobody knows which octets came when: each piece then has the same share of the content as it had of what came. An answer that was cut
/// ends in `failed` with the kind `truncated`, behind what had come.
public struct ReplayTransport: Transport {
    public let cassette: Cassette
    private let clock: any Clock<Duration>

    /// - Parameter clock: on which the cassette's latency is waited for.
    public init(_ cassette: Cassette, clock: any Clock<Duration> = ContinuousClock()) {
        self.cassette = cassette
        self.clock = clock
    }

    public func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
        if let failure = self.cassette.closedFailure {
            _ = receive(.failed(failure))
            return FinishedTask.shared
        }
        switch self.cassette.decider.begin(request) {
        case .decided(let decision): return self.follow(decision, request, receive)
        case .undecided(let pending):
            return DeferredTask(receive: receive) {
                let decision = self.cassette.decider.decide(pending, request)
                return DeferredTask.Prepared { self.follow(decision, request, receive) }
            }
        }
    }

    private func follow(
        _ decision: RequestDecision, _ request: TransportRequest, _ receive: @escaping @Sendable (TransportEvent) -> Demand
    ) -> any TransportTask {
        switch decision {
        case .replay(let index):
            if let player = self.cassette.player { return player.play(index, for: request, clock: self.clock, receive: receive) }
            _ = receive(.failed(self.unsupported(request)))
        case .forward: _ = receive(.failed(self.unsupported(request)))
        case .refuse(let failure): _ = receive(.failed(failure))
        }
        return FinishedTask.shared
    }

    private func unsupported(_ request: TransportRequest) -> TransportFailure {
        TransportFailure(
            .unsupported,
            "\(request.method) \"\(RequestDecider.url(of: request))\" would go to the network, as the cassette \"\(self.cassette.path)\" is open with mode .\(self.cassette.mode): send it through a RecordingTransport, or open the cassette with mode .none."
        )
    }
}
