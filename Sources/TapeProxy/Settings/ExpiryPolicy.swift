/// What happens to a replay from a cassette that is older than it may be.
public enum ExpiryPolicy: String, Sendable, Hashable, CaseIterable {
    /// It goes on, and that is told.
    case warn
    /// It does not begin: exit code 7.
    case fail
    /// The cassette is recorded anew.
    case rerecord
}
