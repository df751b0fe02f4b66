internal import CassetteModel

/// The end of an origin's connection or stream that a replay repeats, because the recorded client got it as well or the run wants it
/// (`--origin-errors`).
struct RecordedBreak {
    /// The error code of HTTP/2 with which the stream ended (RFC 9113, 7); nil if the connection broke.
    private let code: Int?
    private let isReset: Bool

    /// - Parameter choice: what the run wants; nil for what was recorded.
    /// - Returns: nil for an exchange of which nothing broke, and for one whose client gets a page, or the end of its own stream alone.
    init?(_ outcome: Outcome, choice: Failure.Answer?) {
        switch outcome {
        case .failed(let failure) where failure.isBreak && (choice ?? failure.answered) == .break:
            (self.code, self.isReset) = (failure.code, failure.isReset)
        case .cut(let cut) where cut.by == .origin && choice.map({ $0 == .break }) ?? cut.isBreak:
            (self.code, self.isReset) = (cut.code, cut.isReset)
        case .complete, .failed, .cut: return nil
        }
    }

    func happens(to client: any ClientStream) { client.breakOff(as: self.code, isReset: self.isReset) }
}
