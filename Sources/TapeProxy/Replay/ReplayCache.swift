internal import NIOConcurrencyHelpers
internal import TapeCore

/// Recorded answers in memory, up to a number of bytes, for all event loops of a session.
///
/// Reads nothing: see `ReplayLibrary`.
final class ReplayCache: Sendable {
    /// Bytes beside those of an answer: its array's head, and its places in the cache.
    private static let entryWeight = 64

    private struct State {
        /// Answers as a client that keeps its connection gets them. Nearly all are of this kind, which takes half the memory.
        var wires: BoundedCache<[UInt8]>
        /// Answers that such a client does not get in one piece, or that another client asked for.
        var answers: BoundedCache<RecordedAnswer>
    }

    private let state: NIOLockedValueBox<State>

    /// - Parameter limit: bytes of all answers together.
    init(limit: Int) {
        self.state = NIOLockedValueBox(
            State(
                wires: BoundedCache(limit: limit / 9 * 8) { Self.entryWeight + $0.count },
                answers: BoundedCache(limit: limit / 9) { $0.weight }))
    }

    /// Head and body of an exchange, as `ReplayLibrary.wire` has them.
    func wire(_ index: Int) -> [UInt8]? { self.state.withLockedValue { $0.wires.value(index) } }

    func answer(_ index: Int) -> RecordedAnswer? { self.state.withLockedValue { $0.answers.value(index) } }

    func insert(_ answer: RecordedAnswer, at index: Int) {
        self.state.withLockedValue { state in
            if let wire = answer.wire, answer.interim.isEmpty, answer.requestWasRead, state.wires.value(index) == nil {
                state.wires.insert(wire, at: index)
            } else {
                state.answers.insert(answer, at: index)
            }
        }
    }
}
