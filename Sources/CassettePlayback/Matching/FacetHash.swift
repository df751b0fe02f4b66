/// Hashes of facets and of the paths to them.
///
/// Seeded anew in each process, so that a hostile cassette cannot choose values that collide; not to be stored.
enum FacetHash {
    /// What a value is, so that a string is no number and a part no field.
    enum Tag: UInt8 {
        case octets, undecoded, text, object, array, string, spelledString, number, spelledNumber, yes, no, null
        case field, part, notClosed, rest, pattern
    }

    /// Where paths begin.
    static let root: UInt64 = 0

    /// The path to something within another path.
    static func path(_ parent: UInt64, _ name: UnsafeRawBufferPointer, ordinal: Int = 0) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(parent)
        hasher.combine(ordinal)
        hasher.combine(bytes: name)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }

    static func value(_ path: UInt64, _ tag: Tag, _ value: UnsafeRawBufferPointer) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(path)
        hasher.combine(tag.rawValue)
        hasher.combine(bytes: value)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }
}
