internal import CassetteFormat
internal import TapeBytes

/// How much content a search for secrets may look at. Once it is spent the search ends early, and what it says is worth nothing.
///
/// Counts bytes and knows no clock, so that the same body always costs the same. Any thread may use it, and cancel the search with it.
package final class SearchBudget: Sendable {
    /// Thrown by what is searched in pieces.
    package struct Spent: Error {
        package init() {}
    }

    private struct State {
        /// Of this round, and of those before that count.
        var left: Int
        var rounds = 0
        var isDense = false
        var isSpent = false
    }

    /// Content bytes per coded byte that a search on the recorder's thread takes in its stride: text stays below.
    package static let ratio = 100
    /// Content bytes up to which the ratio is not looked at: a small page of blanks is no bomb.
    private static let ratioFloor = InflateLimits.ratioFloor
    /// Content bytes per coded byte beyond which a body is dense: JSON and text of real services stay below.
    private static let usualRatio = 20
    /// Content bytes up to which no body is dense: less is searched in about the time that its exchange takes anyway.
    private static let denseFloor = 64 << 10
    /// Rounds over the same messages that count as one. A round that teaches a secret has another after it; most end with the second one.
    private static let roundLimit = 4

    private let bytes: Int
    private let state: Guarded<State>
    private let ratio: Int

    /// - Parameter bytes: of content, those between two codings included.
    package init(bytes: Int = .max, ratio: Int = .max) {
        self.bytes = bytes
        self.state = Guarded(State(left: bytes))
        self.ratio = ratio
    }

    package var isSpent: Bool { self.state.withLock { $0.isSpent } }

    /// Whether one of the bodies was far longer than its size on the wire: its size on the wire says little of what its search costs.
    package var isDense: Bool { self.state.withLock { $0.isDense } }

    /// Another look at the same messages begins: what the last one counted counts no more, so that the longest one counts alone. Beyond a
    /// few of them each counts.
    func beginRound() {
        self.state.withLock { state in
            state.rounds += 1
            if state.rounds <= Self.roundLimit { state.left = self.bytes }
        }
    }

    /// Ends the search at its next piece.
    package func cancel() { self.state.withLock { $0.isSpent = true } }

    /// Counts what comes out of one body.
    ///
    /// - Parameter coded: its size on the wire.
    func meter(coded: Int) -> (_ count: Int) throws(Spent) -> Void {
        var produced = 0
        return { count throws(Spent) in
            produced += count
            let ratio = produced / max(coded, 1)
            let isTooDense = produced > Self.ratioFloor && ratio > self.ratio
            let isDense = produced > Self.denseFloor && ratio > Self.usualRatio
            let isSpent = self.state.withLock { state in
                state.left -= count
                if isDense { state.isDense = true }
                if state.left < 0 || isTooDense { state.isSpent = true }
                return state.isSpent
            }
            if isSpent { throw Spent() }
        }
    }
}
