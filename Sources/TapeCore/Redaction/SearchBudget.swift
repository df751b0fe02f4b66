/// How much content a search for secrets may look at. Once it is spent the search ends early, and what it says is worth nothing.
///
/// Counts bytes and knows no clock, so that the same body always costs the same. Any thread may use it, and cancel the search with it.
package final class SearchBudget: Sendable {
    /// Thrown by what is searched in pieces.
    package struct Spent: Error {
        package init() {}
    }

    private struct State {
        var left: Int
        var isSpent = false
    }

    /// Content bytes per coded byte that a search on the recorder's thread takes in its stride: text stays below.
    package static let ratio = 100
    /// Content bytes up to which the ratio is not looked at: a small page of blanks is no bomb.
    private static let ratioFloor = InflateLimits.ratioFloor

    private let state: Guarded<State>
    private let ratio: Int

    /// - Parameter bytes: of content, those between two codings included.
    package init(bytes: Int = .max, ratio: Int = .max) {
        self.state = Guarded(State(left: bytes))
        self.ratio = ratio
    }

    package var isSpent: Bool { self.state.withLock { $0.isSpent } }

    /// Ends the search at its next piece.
    package func cancel() { self.state.withLock { $0.isSpent = true } }

    /// Counts what comes out of one body.
    ///
    /// - Parameter coded: its size on the wire.
    func meter(coded: Int) -> (_ count: Int) throws(Spent) -> Void {
        var produced = 0
        return { count throws(Spent) in
            produced += count
            let isDense = produced > Self.ratioFloor && produced / max(coded, 1) > self.ratio
            let isSpent = self.state.withLock { state in
                state.left -= count
                if state.left < 0 || isDense { state.isSpent = true }
                return state.isSpent
            }
            if isSpent { throw Spent() }
        }
    }
}
