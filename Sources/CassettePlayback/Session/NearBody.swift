/// A recorded request whose head is equal and whose body is not.
struct NearBody: Sendable, Hashable {
    /// In order of request start from 0.
    var index: Int
    /// Never empty.
    var differences: [RequestDifference]
}
