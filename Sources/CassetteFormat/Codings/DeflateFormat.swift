/// What is wrapped around a deflate stream.
public enum DeflateFormat: Sendable, Hashable, CaseIterable {
    /// RFC 1952: header, stream, CRC-32 and length.
    case gzip
    /// RFC 1950: two octets, stream, Adler-32.
    case zlib
    /// RFC 1951: the stream alone.
    case raw

    /// The file extension under which tools know the format.
    public var fileExtension: String {
        switch self {
        case .gzip: "gz"
        case .zlib: "zz"
        case .raw: "deflate"
        }
    }
}
