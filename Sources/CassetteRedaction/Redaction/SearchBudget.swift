internal import CassetteFormat
internal import TapeBytes

/// How much content a search for secrets may look at, and how much work it may do on it. Once either is spent the search ends early, and
/// its result is incomplete and must not be used.
///
/// Counts bytes and units of work and knows no clock, so that the same body always costs the same. Any thread may use it, and cancel the
/// search with it.
package final class SearchBudget: Sendable {
    /// Thrown by what is searched in pieces.
    package struct Spent: Error {
        package init() {}
    }

    private struct State {
        /// Content bytes of this round, and of those before that count.
        var left: Int
        /// Units of work, likewise.
        var workLeft: Int
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

    /// Units of work, each about the time in which a byte of text is passed by (some 5 ns): to begin a text, to look closer at a place in
    /// it, and to take out a secret.
    static let costOfText = 512
    static let costOfPlace = 64
    static let costOfSecret = 2048
    /// To read a name that may be a secret's, an item of a list, and what is found.
    static let costOfName = 256
    static let costOfItem = 128
    static let costOfFinding = 1024
    /// For each byte of a form, whose items are decoded one by one, and of a text whose escapes are taken out.
    static let costOfFormByte = 16
    static let costOfEscapedByte = 4
    /// Units of work of a round beyond which the size of a body says little of what its search costs.
    private static let usualWork = 1 << 20

    private let bytes: Int
    private let work: Int
    private let state: Guarded<State>
    private let ratio: Int

    /// - Parameters:
    ///   - bytes: of content that comes out of codings, those between two codings included.
    ///   - work: units of work beyond passing by each byte.
    package init(bytes: Int = .max, ratio: Int = .max, work: Int = .max) {
        self.bytes = bytes
        self.work = work
        self.state = Guarded(State(left: bytes, workLeft: work))
        self.ratio = ratio
    }

    package var isSpent: Bool { self.state.withLock { $0.isSpent } }

    /// Whether the search cost far more than the sizes of the bodies on the wire suggest: a body was far longer than that, or full of
    /// places to look at.
    package var isDense: Bool { self.state.withLock { $0.isDense } }

    /// Another look at the same messages begins: what the last one counted counts no more, so that the longest one counts alone. Beyond a
    /// few of them each counts.
    func beginRound() {
        self.state.withLock { state in
            state.rounds += 1
            if state.rounds <= Self.roundLimit { (state.left, state.workLeft) = (self.bytes, self.work) }
        }
    }

    /// Ends the search at its next piece.
    package func cancel() { self.state.withLock { $0.isSpent = true } }

    /// Units of work that were counted in this round, and in those before that count.
    var workDone: Int { self.state.withLock { self.work - $0.workLeft } }

    /// Counts work. Whether the search goes on.
    func spend(work: Int) -> Bool {
        self.state.withLock { state in
            state.workLeft -= work
            if state.workLeft < self.work - Self.usualWork { state.isDense = true }
            if state.workLeft < 0 { state.isSpent = true }
            return !state.isSpent
        }
    }

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
