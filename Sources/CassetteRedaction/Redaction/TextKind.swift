/// What a text is, as far as it decides how placeholders are spelled in it.
enum TextKind: Sendable, Hashable {
    case plain
    /// Header fields: the meaning of their names is the caller's.
    case fields
    /// application/x-www-form-urlencoded
    case form
    /// A URL and nothing else.
    case url
    /// Bytes whose number may have a meaning to what they are part of: it does not change.
    case binary
}
