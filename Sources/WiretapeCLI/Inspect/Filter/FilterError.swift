/// A filter expression that cannot be read, and where.
struct FilterError: Error, Hashable {
    /// What is wrong, at which character, and what to write.
    var message: String

    /// - Parameter position: characters in front of the place.
    init(_ expression: String, at position: Int, _ reason: String) {
        self.message = "--filter \"\(expression)\", character \(position + 1): \(reason)"
    }
}
