internal import CassetteFormat
internal import TapeBytes

/// Limits how much content a search for secrets may look at, and how much work it may do. Once either is spent, the search ends early; its
/// result is then incomplete and must not be used.
///
/// Counts bytes and units of work but has no clock, so the same body always costs the same. Any thread may use it, and cancel the search
/// through it.
package final class SearchBudget: Sendable {
    /// Thrown by searches that work in pieces.
    package struct Spent: Error {
        package init() {}
    }

    private struct State {
        /// Content bytes left in this round, including earlier rounds that count.
        var left: Int
        /// Units of work left, likewise.
        var workLeft: Int
        var rounds = 0
        var isDense = false
        var isSpent = false
    }

    /// Content bytes per coded byte up to which the recorder's thread does the search itself. Text stays below this.
    package static let ratio = 100
    /// Up to this many content bytes, the ratio is ignored: a small page of blanks is not a bomb.
    private static let ratioFloor = InflateLimits.ratioFloor
    /// Content bytes per coded byte beyond which a body is dense. JSON and text of real services stay below this.
    private static let usualRatio = 20
    /// Up to this many content bytes, no body is dense: the search takes about as long as the exchange itself.
    private static let denseFloor = 64 << 10
    /// How many rounds over the same messages count as one. A round that finds a new secret is followed by another; usually the second is
    /// the last.
    private static let roundLimit = 4

    /// Units of work, each about the time it takes to pass over a byte of text (some 5 ns): the cost of starting a text, of examining a
    /// place in it, and of removing a secret.
    static let costOfText = 512
    static let costOfPlace = 64
    static let costOfSecret = 2048
    /// The cost per byte of a new secret, each of whose spellings is entered among those of similar secrets.
    private static let costOfSecretByte = 32
    /// The cost of reading a possible name of a secret, a list item, and a finding.
    static let costOfName = 256
    static let costOfItem = 128
    static let costOfFinding = 1024
    /// The cost per byte of a form, whose items are decoded one by one, and of a text whose escapes are decoded.
    static let costOfFormByte = 16
    static let costOfEscapedByte = 4
    /// - Parameter count: the length of the secret, in bytes.
    static func cost(ofLearning count: Int) -> Int {
        Self.costOfSecret + min(count, NeedleIndex.compareLimit) * Self.costOfSecretByte
    }

    /// Units of work in a round beyond which the size of a body no longer predicts the cost of its search.
    private static let usualWork = 1 << 20

    private let bytes: Int
    private let work: Int
    private let state: Guarded<State>
    private let ratio: Int

    /// - Parameters:
    ///   - bytes: content bytes that decoding produces, including those between two codings.
    ///   - work: units of work beyond passing over each byte.
    package init(bytes: Int = .max, ratio: Int = .max, work: Int = .max) {
        self.bytes = bytes
        self.work = work
        self.state = Guarded(State(left: bytes, workLeft: work))
        self.ratio = ratio
    }

    package var isSpent: Bool { self.state.withLock { $0.isSpent } }

    /// Whether the search cost far more than the sizes of the bodies on the wire suggest, because a body was far longer when decoded, or
    /// full of places to examine.
    package var isDense: Bool { self.state.withLock { $0.isDense } }

    /// Starts another search of the same messages. The counts of the previous one are reset, so that only the longest one counts. Beyond a
    /// few rounds, all count.
    func beginRound() {
        self.state.withLock { state in
            state.rounds += 1
            if state.rounds <= Self.roundLimit { (state.left, state.workLeft) = (self.bytes, self.work) }
        }
    }

    /// Ends the search at its next piece.
    package func cancel() { self.state.withLock { $0.isSpent = true } }

    /// Units of work counted in this round and in earlier ones that count.
    var workDone: Int { self.state.withLock { self.work - $0.workLeft } }

    /// Counts work. Returns whether the search continues.
    func spend(work: Int) -> Bool {
        self.state.withLock { state in
            state.workLeft -= work
            if state.workLeft < self.work - Self.usualWork { state.isDense = true }
            if state.workLeft < 0 { state.isSpent = true }
            return !state.isSpent
        }
    }

    /// Counts the decoded bytes of one body.
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
