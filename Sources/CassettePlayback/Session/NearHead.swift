/// A recorded request whose head is like that of one that was missed.
struct NearHead: Sendable, Hashable {
    var key: Int
    /// The exchange that comes nearest of those with the key, in order of request start from 0.
    var index: Int
    /// Of the head, and of the body where it was looked at. Never empty.
    var differences: [RequestDifference]
}
