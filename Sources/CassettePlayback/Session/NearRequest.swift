/// A recorded request that is close to one that was missed.
public struct NearRequest: Sendable, Hashable {
    /// The first exchange with this request, in order of request start.
    public var index: Int
    /// Method and URL as plain text.
    public var request: String
    /// Whether all its exchanges have been replayed.
    public var isUsedUp: Bool
    /// Never empty.
    public var differences: [RequestDifference]

    public init(index: Int, request: String, isUsedUp: Bool, differences: [RequestDifference]) {
        self.index = index
        self.request = request
        self.isUsedUp = isUsedUp
        self.differences = differences
    }
}
