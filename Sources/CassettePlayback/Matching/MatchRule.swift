/// One thing in which requests are compared. `MatchRules` are composed by AND.
public enum MatchRule: Sendable, Hashable {
    case method
    case scheme
    /// With the user information in front of it.
    case host
    case port
    case path
    /// Its items, with their order or without.
    case query(ordered: Bool)
    /// All values of the field, by its name in lower case.
    case header(String)
    case body(BodyMatch)
    /// The operation and its variables in place of the body and the query items that hold them (GraphQL over HTTP); any other
    /// request is compared by its body's kind.
    case graphQL
}
