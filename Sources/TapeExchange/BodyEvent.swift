public import CassetteModel

/// A part of a body found in a buffer.
public enum BodyEvent: Sendable, Hashable {
    /// Payload at this range of the buffer, chunk framing excluded.
    case data(Range<Int>)
    /// A chunk begins. `line` is its size line where that is not the size in lower-case hex.
    case chunk(size: Int, line: String?)
    /// The last chunk. `line` is its size line where that is not `0`.
    case lastChunk(line: String?)
    /// A trailer section with at least one field.
    case trailers(HeaderFields)
}
