/// One member of a gzip stream that has several (RFC 1952, 2.2), with what it takes to code it again exactly.
///
/// Knows how much of the content is its own, and not where that begins: the members in front say that.
public struct GzipMember: Sendable, Hashable {
    public var header: GzipHeader
    public var parameters: DeflateParameters
    /// Content octets in the member; nil for the last one, which holds what is left.
    public var size: Int?

    public init(header: GzipHeader, parameters: DeflateParameters, size: Int?) {
        self.header = header
        self.parameters = parameters
        self.size = size
    }

    /// Most members with parameters of their own. Files that were put together have a few; block formats have thousands, and a line
    /// for each would be longer than what it stands for.
    public static let limit = 16
}
