internal import CassetteModel

/// The failure that a recorded exchange ended with, as it is given again.
enum RecordedFailure {
    /// Nil where the exchange came to its end.
    ///
    /// - Parameters:
    ///   - hasResponse: whether a response had begun.
    ///   - isBodyComplete: whether all of its body was recorded.
    static func of(_ outcome: Outcome, hasResponse: Bool, isBodyComplete: Bool) -> TransportFailure? {
        switch outcome {
        case .failed(let failure):
            return TransportFailure(.network(failure.kind), failure.message)
        case .cut(let cut) where !hasResponse:
            return TransportFailure(.network(.cancelled), "the recorded exchange ended before an answer came: \(cut.reason).")
        case .cut(let cut):
            return TransportFailure(.network(.truncated), "the recorded answer ends before its end: \(cut.reason).")
        case .complete where !hasResponse:
            return TransportFailure(.network(.truncated), "the recorded exchange has no response: add one to the cassette.")
        case .complete where !isBodyComplete:
            return TransportFailure(.network(.truncated), "the recorded answer ends before its end.")
        case .complete:
            return nil
        }
    }
}
