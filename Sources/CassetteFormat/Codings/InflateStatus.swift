/// How far an inflater has come.
public enum InflateStatus: Sendable, Hashable {
    case needsMore
    /// The stream is whole and its checks are right. Input behind it was not touched.
    case ended
    case failed(InflateProblem)
}
