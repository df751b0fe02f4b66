internal import Dispatch
internal import TapeBytes

/// Whether a new recording replaces the old one. Pages and the terminal may answer, and the first answer counts.
///
/// Does not replace anything itself. Any thread may use it.
package final class ReviewQuestion: Sendable {
    package enum Answer: String, Sendable, Hashable, CaseIterable {
        case accept, reject
        /// Both stay, and a person decides later.
        case later
    }

    package enum Side: String, Sendable { case page, terminal }

    /// The state of the question.
    package enum Phase: Sendable, Equatable {
        /// The question has not been asked yet.
        case closed
        case open
        case answered(Answer, by: Side)
        /// The answer was carried out. Contains the result, as in the run's summary.
        case done(String, by: Side)
        case failed(String)
    }

    /// The paths of the recording to be replaced and of the new one.
    package let old: String
    package let new: String

    private let state = Guarded(Phase.closed)
    private let isAnswered = DispatchSemaphore(value: 0)
    private let isOver = DispatchSemaphore(value: 0)

    package init(old: String, new: String) {
        self.old = old
        self.new = new
    }

    package var phase: Phase { self.state.withLock { $0 } }

    package func open() { self.state.withLock { if $0 == .closed { $0 = .open } } }

    /// - Returns: whether this is the first answer to the open question.
    package func answer(_ answer: Answer, by side: Side) -> Bool {
        let isFirst = self.state.withLock { phase in
            guard phase == .open else { return false }
            phase = .answered(answer, by: side)
            return true
        }
        if isFirst { self.isAnswered.signal() }
        return isFirst
    }

    /// The answer, once there is one within the time limit; nil waits without a limit.
    package func wait(milliseconds: Int? = nil) -> (answer: Answer, side: Side)? {
        _ = self.isAnswered.wait(timeout: milliseconds.map { .now() + .milliseconds($0) } ?? .distantFuture)
        guard case .answered(let answer, let side) = self.phase else { return nil }
        return (answer, side)
    }

    /// The answer was carried out, or none was needed.
    ///
    /// - Parameter words: the result.
    package func end(_ words: String) {
        self.state.withLock { phase in
            if case .answered(_, let side) = phase { phase = .done(words, by: side) } else { phase = .done(words, by: .terminal) }
        }
        self.isOver.signal()
    }

    /// The answer could not be carried out.
    package func fail(_ message: String) {
        self.state.withLock { $0 = .failed(message) }
        self.isOver.signal()
    }

    /// Waits until the answer has been carried out.
    func outcome() -> Phase {
        self.isOver.wait()
        // For the next caller that waits.
        self.isOver.signal()
        return self.phase
    }
}
