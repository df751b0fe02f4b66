internal import TapeBytes

/// Tells people of each TLS problem once, however often and on however many event loops it happens.
final class Diagnosis: Sendable {
    private struct Key: Hashable {
        var leg: TLSProblem.Leg
        var host: String
        var port: Int
        var cause: String
    }

    /// More different problems than anybody reads.
    private static let limit = 200

    private let counts: Guarded<ProxyCounts>
    private let log: ProxyLog
    private let notice: @Sendable (String) -> Void
    private let told = Guarded<Set<Key>>([])

    init(counts: Guarded<ProxyCounts>, log: ProxyLog = ProxyLog(), notice: @escaping @Sendable (String) -> Void) {
        self.counts = counts
        self.log = log
        self.notice = notice
    }

    func report(_ problem: TLSProblem) {
        self.counts.withLock { $0.tlsFailures += 1 }
        self.log.tlsFailed(problem.leg, host: problem.host, port: problem.port, cause: problem.failure.cause)
        let key = Key(leg: problem.leg, host: problem.host, port: problem.port, cause: problem.failure.cause.rawValue)
        if self.isNew(key) { self.notice(problem.description) }
    }

    /// A word on something that is no failure, once for each text.
    func remark(_ text: String) {
        let key = Key(leg: .client, host: text, port: 0, cause: "")
        if self.isNew(key) { self.notice(text) }
    }

    private func isNew(_ key: Key) -> Bool {
        self.told.withLock { $0.count < Self.limit && $0.insert(key).inserted }
    }
}
