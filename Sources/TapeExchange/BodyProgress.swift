/// How far a body got with a buffer.
public struct BodyProgress: Sendable, Hashable {
    /// Bytes that belong to the body: the whole buffer, unless the body ended within it.
    public var consumed: Int
    public var isDone: Bool

    public init(consumed: Int, isDone: Bool) {
        self.consumed = consumed
        self.isDone = isDone
    }
}
