/// A content coding (RFC 9110, 8.4.1) that was taken off a body, with what it takes to put it back on exactly.
public enum ContentCoding: Sendable, Hashable {
    /// gzip (RFC 1952), with the header of the first member. Parameters are nil where no search found them: then `Body.original` holds
    /// the octets.
    case gzip(DeflateParameters?, header: GzipHeader)
    /// gzip of two members or more, each of which can be coded again.
    case gzipMembers([GzipMember])
    /// `deflate` as the zlib format (RFC 1950).
    case deflate(DeflateParameters?)
    /// `deflate` without the zlib wrapper (RFC 1951), which some servers send.
    case rawDeflate(DeflateParameters?)
    /// `br` (RFC 7932). Its octets are always kept: encoders differ by version (docs/decisions/0013-br-and-zstd.md).
    case brotli
    /// `zstd` (RFC 8878), kept in the same way.
    case zstandard
}
