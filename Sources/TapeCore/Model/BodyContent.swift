/// The form in which a body's octets lie in a cassette.
public enum BodyContent: Sendable, Hashable {
    /// No octets at all.
    case empty
    /// Valid UTF-8 text.
    case text([UInt8])
    /// A JSON text (RFC 8259) with the octets as received; the file shows its structure and the white space style restores it.
    case json([UInt8], style: JSONStyle)
    /// Anything else that is small: base64 in the file.
    case binary([UInt8])
    /// A file beside the cassette.
    case file(Sidecar)
    /// Wire octets not looked at yet: a slice of the raw spool beside the cassette, developed into another form later.
    case raw(RawSlice)
}
