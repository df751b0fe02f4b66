/// A content coding (RFC 9110, 8.4.1) that was taken off a body, with what it takes to put it back on exactly.
public enum ContentCoding: Sendable, Hashable {
    /// One gzip member (RFC 1952). Parameters are nil where no search found them: then `Body.original` holds the octets.
    case gzip(DeflateParameters?, header: GzipHeader)
    /// `deflate` as the zlib format (RFC 1950).
    case deflate(DeflateParameters?)
    /// `deflate` without the zlib wrapper (RFC 1951), which some servers send.
    case rawDeflate(DeflateParameters?)
}
