/// The mark that every placeholder of a redacted value is, before requests are compared.
///
/// `{{authorization:1}}` becomes `{{*}}`: placeholders are numbered by run, and a cassette's are not those of a live request.
public enum MatchMark {
    /// Whether a mark is among the octets.
    public static func isIn(_ octets: UnsafeRawBufferPointer) -> Bool { false }

    /// Whether a recorded head key that holds marks fits a live one: a mark stands for one octet or more, but not for what divides a
    /// key (`/` in a path, `&` in a query, a line feed).
    public static func headKey(_ recorded: UnsafeRawBufferPointer, fits live: UnsafeRawBufferPointer) -> Bool { false }
}
