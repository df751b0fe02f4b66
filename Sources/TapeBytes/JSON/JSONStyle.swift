/// The white space between the tokens of a JSON text, where it follows one rule throughout.
public struct JSONStyle: Sendable, Hashable {
    /// Spaces per level where members stand on lines of their own; nil when all is on one line.
    public var indent: Int?
    /// After a colon.
    public var colon: String
    /// After a comma, where all is on one line.
    public var comma: String
    /// White space behind the text, mostly a line end.
    public var tail: String

    public init(indent: Int? = nil, colon: String = "", comma: String = "", tail: String = "") {
        self.indent = indent
        self.colon = colon
        self.comma = comma
        self.tail = tail
    }

    /// `{"a":1,"b":[2,3]}`, as JavaScript's JSON.stringify and most servers write.
    public static let compact = JSONStyle()
    /// `{"a": 1, "b": [2, 3]}`, as Python's json.dumps writes.
    public static let spaced = JSONStyle(colon: " ", comma: " ")
}
