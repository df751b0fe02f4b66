/// A secret found in a text, by its place or its looks.
package struct Finding: Sendable, Hashable {
    package enum Spelling: Sendable, Hashable {
        /// As it stands.
        case plain
        /// In a JSON string.
        case json
        /// A number of JSON, which a number takes the place of.
        case number
        /// In a URL's query.
        case query
        /// In a form.
        case form
        /// In front of a URL's host, where colons have a meaning.
        case user
    }

    var kind: String
    /// In the text.
    var range: Range<Int>
    /// Without the escapes of its spelling.
    var secret: [UInt8]
    var spelling: Spelling
    var isSure = true
    /// Not looked for elsewhere, whatever it looks like: it may be a word of a program.
    var isPlaceOnly = false
    /// Further spellings to search for.
    var pieces: [[UInt8]] = []
}
