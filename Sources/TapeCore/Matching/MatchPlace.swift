/// A place in a request that a rule speaks of.
public enum MatchPlace: Sendable, Hashable {
    case method
    case scheme
    case host
    case port
    case path
    /// The whole query.
    case query
    /// All query items of a name, decoded.
    case queryItem(String)
    /// By its name in lower case.
    case header(String)
    case body
    case json(PlacePointer)
    /// All fields of a form with a name.
    case formField(String)
    /// All parts of a multipart body with a name.
    case part(String)
}
