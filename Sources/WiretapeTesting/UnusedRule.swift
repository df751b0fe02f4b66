/// What recorded exchanges that answered nothing mean for a replaying test that is fine otherwise.
public enum UnusedRule: Sendable, Hashable {
    /// They fail it: the code has stopped asking for something.
    case fail
    /// Nothing: one cassette serves several tests, or the test does not always ask.
    case allow
}
