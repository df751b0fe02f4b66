/// The line between two parts of a multipart body, with everything that may differ from one sender to the next (RFC 2046, 5.1.1).
///
/// Does not hold the boundary, which is the same in all of them.
public struct MultipartDelimiter: Sendable, Hashable {
    /// The line end in front, which belongs to the delimiter and not to the part before it.
    public var lineEndBefore: LineEnd
    /// Two more hyphens: no part follows.
    public var isClosing: Bool
    /// Spaces and tabs behind the boundary, which RFC 2046 lets relays add.
    public var padding: [UInt8]
    public var lineEndAfter: LineEnd

    public init(
        lineEndBefore: LineEnd = .carriageReturnLineFeed, isClosing: Bool = false, padding: [UInt8] = [],
        lineEndAfter: LineEnd = .carriageReturnLineFeed
    ) {
        self.lineEndBefore = lineEndBefore
        self.isClosing = isClosing
        self.padding = padding
        self.lineEndAfter = lineEndAfter
    }

    public func octets(boundary: MultipartBoundary) -> [UInt8] {
        self.lineEndBefore.octets + boundary.dashed + (self.isClosing ? [45, 45] : []) + self.padding + self.lineEndAfter.octets
    }
}
