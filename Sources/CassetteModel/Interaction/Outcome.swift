/// How an exchange ended.
public enum Outcome: Sendable, Hashable {
    /// Both messages came to their framed end.
    case complete
    /// A message ended before its framed end; what came is kept.
    case cut(Cut)
    /// No response came.
    case failed(Failure)
}
