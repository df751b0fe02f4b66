/// Why the origin could not start.
struct OriginError: Error, Hashable, Sendable {
    /// What went wrong and what to do next.
    var message: String
}
