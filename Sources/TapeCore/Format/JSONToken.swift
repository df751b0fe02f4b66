/// One token of a JSON text, as offsets into it.
struct JSONToken {
    enum Kind: UInt8 {
        case beginObject, endObject, beginArray, endArray, colon, comma
        /// A member's name, and a string in any other place.
        case name, string
        case number, yes, no, null
        /// The end of the text.
        case end
    }

    var kind: Kind
    /// Where the white space before the token starts.
    var gap: Int
    var start: Int
    var end: Int
    /// True for a name or string with at least one escape.
    var isEscaped = false
}
