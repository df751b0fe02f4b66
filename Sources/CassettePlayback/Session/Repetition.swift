/// What happens to a request whose recorded exchanges are all used up.
public enum Repetition: String, Sendable, Hashable, CaseIterable {
    /// It is a miss.
    case never
    /// The last recorded exchange answers from then on.
    case last
    /// The recorded exchanges start again from the first.
    case cycle
}
