/// One thing of a body that is compared, and what of it is shown to people.
///
/// Two facets are the same when their hashes are; the rest is for explaining.
public struct BodyFacet: Sendable, Hashable {
    public enum Place: Sendable, Hashable {
        /// The octets or characters of the body in one piece.
        case whole
        /// A JSON Pointer (RFC 6901) to a value.
        case json
        case formField
        case part
        /// Parts without a closing delimiter.
        case unclosed
        /// A query item that belongs to a GraphQL request.
        case queryItem
    }

    public var place: Place
    /// The pointer, or the name of the field or part; cut to `BodyFacets.nameLimit` octets.
    public var name: [UInt8]
    /// The value, or its first `BodyFacets.valueLimit` octets, with placeholders as marks.
    public var value: [UInt8]
    /// Octets of the whole value.
    public var size: Int
    /// Of a part.
    public var filename: [UInt8]?
    /// Of a part: the media type, and its charset.
    public var type: [UInt8]
    /// Whether the value holds marks.
    public var hasMarks: Bool
    /// Seeded anew in each process.
    var hash: UInt64
}
