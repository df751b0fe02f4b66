/// A JSON Pointer (RFC 6901) of a rule, in which a segment `*` stands for any member or element.
public struct PlacePointer: Sendable, Hashable {
    public enum Segment: Sendable, Hashable {
        /// A member's name, or an element's index in decimal digits.
        case name([UInt8])
        case any
    }

    /// Empty for the whole value.
    public let segments: [Segment]

    init(segments: [Segment]) {
        self.segments = segments
    }
}
