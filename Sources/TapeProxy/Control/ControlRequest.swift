/// A request to the control API that may be made.
struct ControlRequest: Sendable, Hashable {
    var method: String
    /// Without the query.
    var path: String
    /// What stands behind the question mark; empty without one.
    var query: String
    var body: [UInt8]
}
