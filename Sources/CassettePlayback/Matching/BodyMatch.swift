/// What of a request body is compared. Content codings are taken off before.
///
/// A body that is not what a case asks for is compared by its kind, on either side alike.
public enum BodyMatch: String, Sendable, Hashable, CaseIterable {
    /// As JSON, a form, parts or text where it says to be that, and else octet by octet.
    case byKind = "kind"
    case bytes
    /// By value: members in any order, numbers and strings in any spelling.
    case json
    /// Fields in any order.
    case form
    /// Part by part, without the boundary.
    case multipart
    /// Characters, whatever the charset.
    case text
}
