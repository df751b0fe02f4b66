/// The header of a gzip member as received (RFC 1952, 2.3): ten bytes, and whatever optional fields follow them.
public struct GzipHeader: Sendable, Hashable {
    /// All header bytes from the magic number to the last optional field.
    public var bytes: [UInt8]

    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }
}
