/// Octets in the raw spool of a cassette, `NAME.bodies/undeveloped.raw`.
public struct RawSlice: Sendable, Hashable {
    public var path: String
    public var offset: Int
    public var size: Int
    /// CRC-32 (that of gzip, RFC 1952) of the slice: proves the slice was written whole.
    public var crc32: UInt32

    public init(path: String, offset: Int, size: Int, crc32: UInt32) {
        self.path = path
        self.offset = offset
        self.size = size
        self.crc32 = crc32
    }
}
