internal import TapeBytes

/// Recorded answers in memory, up to a number of bytes, for all event loops of a session.
///
/// Reads nothing: see `ReplayLibrary`.
final class ReplayCache: Sendable {
    /// Bytes beside those of an answer: its array's head, and its places in the cache.
    private static let entryWeight = 64

    private struct State {
        /// Answers as a client that keeps its connection gets them. Nearly all are of this kind, which takes half the memory.
        var ready: BoundedCache<ReadyAnswer>
        /// Answers that such a client does not get in one piece, or that another client asked for.
        var answers: BoundedCache<RecordedAnswer>
    }

    private let state: Guarded<State>

    /// - Parameter limit: bytes of all answers together.
    init(limit: Int) {
        self.state = Guarded(
            State(
                ready: BoundedCache(limit: limit / 9 * 8) { Self.entryWeight + $0.bytes.count },
                answers: BoundedCache(limit: limit / 9) { $0.weight }))
    }

    func ready(_ index: Int) -> ReadyAnswer? { self.state.withLock { $0.ready.value(index) } }

    func answer(_ index: Int) -> RecordedAnswer? { self.state.withLock { $0.answers.value(index) } }

    func insert(_ answer: RecordedAnswer, at index: Int) {
        let ready = self.ready(index) == nil ? ReadyAnswer(answer) : nil
        self.state.withLock { state in
            if let ready { state.ready.insert(ready, at: index) } else { state.answers.insert(answer, at: index) }
        }
    }
}
