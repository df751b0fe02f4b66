internal import CassetteModel
internal import TapeBytes
internal import TrafficRules

/// The attempts of a run's clients, for the verdict on them. Any thread may use it.
final class AttemptLog: Sendable {
    /// Attempts that are kept; a verdict on more would name the same things.
    private static let limit = 100_000

    private struct State {
        var attempts: [ClientVerdict.Attempt] = []
        /// The attempts whose connections are open.
        var open: [Int: [Int]] = [:]
        /// Attempts beyond the limit.
        var dropped = 0
    }

    private let state = Guarded(State())

    /// - Returns: the number of the attempt; nil if there are too many.
    func began(_ attempt: ClientVerdict.Attempt) -> Int? {
        self.state.withLock { state in
            guard state.attempts.count < Self.limit else {
                state.dropped += 1
                return nil
            }
            state.attempts.append(attempt)
            state.open[attempt.connection, default: []].append(state.attempts.count - 1)
            return state.attempts.count - 1
        }
    }

    func change(_ number: Int, _ change: (inout ClientVerdict.Attempt) -> Void) {
        self.state.withLock { change(&$0.attempts[number]) }
    }

    func connectionClosed(_ connection: Int, at time: Duration) {
        self.state.withLock { state in
            for number in state.open.removeValue(forKey: connection) ?? [] { state.attempts[number].connectionEnd = time }
        }
    }

    var attempts: [ClientVerdict.Attempt] { self.state.withLock { $0.attempts } }
}
