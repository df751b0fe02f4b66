/// How much of a multipart body is looked at in detail; what lies beyond is passed on as opaque octets.
///
/// Says nothing of the size of parts: their data is never kept.
public struct MultipartLimits: Sendable, Hashable {
    /// Parts of one body. Go (`multipartmaxparts`) and Werkzeug (`max_form_parts`) stop at 1,000; a recorder must also show what they refuse.
    public var parts = 100_000
    /// Octets of one part's header section with all its line ends: as much as a message's own may have. python-multipart takes 4 KiB a
    /// field.
    public var headerSection = 64 * 1024
    /// Lines of one part's header section: as many as a message may have. python-multipart takes 8, Go 10,000.
    public var headerLines = 128
    /// Octets of all header sections of one body, where they are collected: 160 for each of 100,000 parts.
    public var allHeaderSections = 16 << 20
    /// Octets in front of the first delimiter or behind the closing one, where they are collected. Mail programs put a sentence there.
    public var surroundings = 64 * 1024
    /// Levels of multiparts within multiparts. Mail has three (mixed, related, alternative); forms have two at most (RFC 7578, 4.3).
    public var depth = 8

    /// White space behind a boundary. No composer may write any (RFC 2046, 5.1.1); a relay's line stays within 78 characters (RFC 5322, 2.1.1).
    static let padding = 78

    public init() {}
}
