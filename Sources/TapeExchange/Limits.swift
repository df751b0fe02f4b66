/// How much of each part of a message a peer may send before it is refused.
///
/// Counts bytes and lines only; time and the size of bodies are the proxy's business.
public struct Limits: Sendable, Hashable {
    /// Bytes of a request line or status line without its CRLF. RFC 9112, 3 asks for at least 8,000; nginx
    /// (`large_client_header_buffers`) and Apache (`LimitRequestLine`) stop at 8 KiB, HAProxy (`tune.bufsize`) at 16 KiB.
    public var startLine = 16 * 1024

    /// Bytes of a header section with all its line ends. nginx takes 4 buffers of 8 KiB, HAProxy 16 KiB, Node 16 KiB,
    /// Apache 100 fields of 8 KiB; curl takes 300 KiB from an origin.
    public var headerSection = 64 * 1024

    /// Lines of a header section. Apache (`LimitRequestFields`) takes 100, HAProxy (`tune.http.maxhdr`) 101.
    public var fields = 128

    /// Empty lines skipped before a request line (RFC 9112, 2.2: "at least one").
    public var leadingEmptyLines = 2

    /// Bytes of one chunk-size line without its CRLF. Go (`net/http/internal`, `maxLineLength`) takes 4,096.
    public var chunkLine = 4 * 1024

    /// Bytes of chunk extensions, over a whole body, beyond the payload of their chunks: so a long signed body passes and a flood does
    /// not (CVE-2023-39326). Go allows 16 KiB in the same way, Node 16 KiB a chunk.
    public var chunkExtensions = 16 * 1024

    /// Bytes of a trailer section with all its line ends: as large as HAProxy's buffer.
    public var trailerSection = 16 * 1024

    /// Interim (1xx) responses before a final one; Go's client gave up after 5.
    public var interimResponses = 16

    public init() {}
}
