/// A place whose value is compared by a pattern: values that match it as a whole count as equal.
public struct PlacePattern: Sendable, Hashable {
    public let place: MatchPlace
    public let pattern: Pattern
}
