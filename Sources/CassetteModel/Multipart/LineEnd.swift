/// How a line ends in a multipart body: RFC 2046 wants CRLF, some clients write LF alone, and some forget it.
public enum LineEnd: Sendable, Hashable, CaseIterable {
    case none
    case lineFeed
    case carriageReturnLineFeed

    public var octets: [UInt8] {
        switch self {
        case .none: []
        case .lineFeed: [10]
        case .carriageReturnLineFeed: [13, 10]
        }
    }

    public var count: Int {
        switch self {
        case .none: 0
        case .lineFeed: 1
        case .carriageReturnLineFeed: 2
        }
    }

    /// The line end that closes `bytes[start..<end]`.
    static func before(_ end: Int, from start: Int, in bytes: UnsafeRawBufferPointer) -> LineEnd {
        guard end > start, bytes[end - 1] == 10 else { return .none }
        return end - 1 > start && bytes[end - 2] == 13 ? .carriageReturnLineFeed : .lineFeed
    }
    /// The line end that `octets` begin with.
    static func leading(_ octets: [UInt8]) -> LineEnd {
        if octets.starts(with: [13, 10]) { return .carriageReturnLineFeed }
        return octets.first == 10 ? .lineFeed : .none
    }
}
