/// A text that does not say how long answers are to take.
public struct LatencyError: Error, Hashable, Sendable {
    /// Names the text, what is wrong with it, and what can be written.
    public let message: String
}
