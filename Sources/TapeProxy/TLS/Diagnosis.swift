internal import NIOConcurrencyHelpers

/// Tells people of each TLS problem once, however often it happens.
///
/// Not Sendable: lives on its event loop.
final class Diagnosis {
    private struct Key: Hashable {
        var leg: TLSProblem.Leg
        var host: String
        var port: Int
        var cause: String
    }

    /// More different problems than anybody reads.
    private static let limit = 200

    private let counts: NIOLockedValueBox<ProxyCounts>
    private let notice: @Sendable (String) -> Void
    private var told: Set<Key> = []

    init(counts: NIOLockedValueBox<ProxyCounts>, notice: @escaping @Sendable (String) -> Void) {
        self.counts = counts
        self.notice = notice
    }

    func report(_ problem: TLSProblem) {
        self.counts.withLockedValue { $0.tlsFailures += 1 }
        let key = Key(leg: problem.leg, host: problem.host, port: problem.port, cause: problem.failure.cause.rawValue)
        guard self.told.count < Self.limit, self.told.insert(key).inserted else { return }
        self.notice(problem.description)
    }

    /// A word on something that is no failure, once for each text.
    func remark(_ text: String) {
        let key = Key(leg: .client, host: text, port: 0, cause: "")
        guard self.told.count < Self.limit, self.told.insert(key).inserted else { return }
        self.notice(text)
    }
}
