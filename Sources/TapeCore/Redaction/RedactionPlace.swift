/// A place in a message that a rule names.
public enum RedactionPlace: Sendable, Hashable {
    /// A header or trailer field, in lower case.
    case header(String)
    /// An item of a URL's query, by its decoded name.
    case query(String)
    /// A value in JSON, by the segments of its pointer (RFC 6901); `*` stands for any member or element.
    case json([String])
    /// A field of a form, by its decoded name.
    case form(String)
    /// A part of multipart/form-data, by its name.
    case part(String)
    /// The path of a URL.
    case path
    /// Any text at all: for patterns.
    case text
}
