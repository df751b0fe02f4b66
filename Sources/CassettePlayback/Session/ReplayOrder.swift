/// Whether requests have to come in the order in which they were recorded.
public enum ReplayOrder: String, Sendable, Hashable, CaseIterable {
    /// They come as they like; one that comes late is noted in the verdict.
    case any
    /// Only the next recorded exchange that has not answered yet may answer.
    case strict
}
