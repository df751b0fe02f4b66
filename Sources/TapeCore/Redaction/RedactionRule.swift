/// What is redacted beyond the standard rules: a place, or what a pattern finds in a place.
public struct RedactionRule: Sendable, Hashable {
    public let place: RedactionPlace
    /// What of the value is a secret; all of it without a pattern.
    public let pattern: Pattern?
    /// As it was written.
    public let text: String
}
