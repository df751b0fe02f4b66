/// One token of a JSON text, as offsets into it.
package struct JSONToken {
    package enum Kind: UInt8 {
        case beginObject, endObject, beginArray, endArray, colon, comma
        /// A member's name, and a string in any other place.
        case name, string
        case number, yes, no, null
        /// The end of the text.
        case end
    }

    package var kind: Kind
    /// Where the white space before the token starts.
    var gap: Int
    package var start: Int
    package var end: Int
    /// True for a name or string with at least one escape.
    package var isEscaped = false
}
