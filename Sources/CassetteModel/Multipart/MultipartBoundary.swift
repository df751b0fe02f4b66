internal import Platform
internal import TapeBytes

/// A boundary that can be searched for: one to 256 bytes without line ends and NUL.
///
/// More lenient than RFC 2046, as real clients are. `MultipartLint` reports what the RFC does not allow.
public struct MultipartBoundary: Sendable, Hashable {
    /// In bytes. RFC 2046, 5.1.1 allows 70; python-multipart (`MAX_BOUNDARY_LENGTH`) accepts the same number as this.
    public static let longest = 256

    /// Two hyphens and the boundary.
    let dashed: [UInt8]
    /// The index in `dashed` of the byte that is rarest in ordinary data.
    private let anchor: Int

    public init?(_ bytes: some Collection<UInt8>) {
        guard (1...Self.longest).contains(bytes.count), !bytes.contains(where: { $0 == 0 || $0 == 10 || $0 == 13 }) else { return nil }
        self.dashed = [45, 45] + bytes
        self.anchor = Self.rarest(self.dashed)
    }

    public init?(_ text: String) {
        self.init(Array(text.utf8))
    }

    /// The boundary without the two hyphens.
    public var bytes: ArraySlice<UInt8> { self.dashed[2...] }
    public var count: Int { self.dashed.count - 2 }

    /// The index of the byte that `find` searches for. Capital letters and digits are rarer than lower-case letters and hyphens in text,
    /// JSON and code; in random data all are equally frequent.
    private static func rarest(_ dashed: [UInt8]) -> Int {
        func rank(_ byte: UInt8) -> Int {
            switch byte {
            case UInt8(ascii: "J"), UInt8(ascii: "K"), UInt8(ascii: "Q"), UInt8(ascii: "V")...UInt8(ascii: "Z"): 0
            case 0x80...0xFF: 1
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): 2
            case UInt8(ascii: "1")...UInt8(ascii: "9"): 3
            case UInt8(ascii: "j"), UInt8(ascii: "k"), UInt8(ascii: "q"), UInt8(ascii: "v")...UInt8(ascii: "z"): 4
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0"): 5
            default: 6
            }
        }
        var best = dashed.count - 1
        for index in dashed.indices.reversed() where rank(dashed[index]) < rank(dashed[best]) { best = index }
        return best
    }

    /// The first offset from `start` at which two hyphens and the boundary occur.
    func find(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        let length = self.dashed.count
        return self.dashed.withUnsafeBytes { dashed in
            guard let pattern = dashed.baseAddress else { return nil }
            var offset = start + self.anchor
            let end = bytes.count - length + self.anchor
            while offset <= end, let hit = memchr(base + offset, Int32(dashed[self.anchor]), end - offset + 1) {
                let candidate = UnsafeRawPointer(hit) - self.anchor
                if memcmp(candidate, pattern, length) == 0 { return candidate - base }
                offset = candidate - base + self.anchor + 1
            }
            return nil
        }
    }

    func occurs(at offset: Int, in bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count - offset >= self.dashed.count
            && self.dashed.withUnsafeBytes { $0.elementsEqualFast(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + $0.count])) }
    }

    /// The first offset from `start` at which the remaining bytes may begin a delimiter; the end if there is none.
    func beginning(atEndOf bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        let end = bytes.count
        var found = end
        self.dashed.withUnsafeBytes { dashed in
            for offset in max(start, end - dashed.count + 1)..<max(end, start) where bytes[offset] == 45 {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
                guard rest.elementsEqualFast(UnsafeRawBufferPointer(rebasing: dashed[..<rest.count])) else { continue }
                found = offset
                break
            }
        }
        if found == end, end > start, bytes[end - 1] == 13 { return end - 1 }
        return found - LineEnd.before(found, from: start, in: bytes).count
    }
}

/// The line between two parts of a multipart body, with everything that may differ between senders (RFC 2046, 5.1.1).
///
/// Does not contain the boundary, which is the same in all delimiters of a body.
public struct MultipartDelimiter: Sendable, Hashable {
    /// Belongs to the delimiter, not to the part before it.
    public var lineEndBefore: LineEnd
    /// Whether two more hyphens follow the boundary: this is the last delimiter.
    public var isClosing: Bool
    /// Spaces and tabs after the boundary, which RFC 2046 allows relays to add.
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

    public func bytes(boundary: MultipartBoundary) -> [UInt8] {
        self.lineEndBefore.bytes + boundary.dashed + (self.isClosing ? [45, 45] : []) + self.padding + self.lineEndAfter.bytes
    }
}

/// A line end in a multipart body. RFC 2046 requires CRLF; some clients write a lone LF, and some omit it.
public enum LineEnd: Sendable, Hashable, CaseIterable {
    case none
    case lineFeed
    case carriageReturnLineFeed

    public var bytes: [UInt8] {
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

    /// The line end at the end of `bytes[start..<end]`.
    static func before(_ end: Int, from start: Int, in bytes: UnsafeRawBufferPointer) -> LineEnd {
        guard end > start, bytes[end - 1] == 10 else { return .none }
        return end - 1 > start && bytes[end - 2] == 13 ? .carriageReturnLineFeed : .lineFeed
    }

    /// The line end at the start of `bytes`.
    static func leading(_ bytes: [UInt8]) -> LineEnd {
        if bytes.starts(with: [13, 10]) { return .carriageReturnLineFeed }
        return bytes.first == 10 ? .lineFeed : .none
    }
}

/// Decides from the following bytes whether two hyphens and a boundary are a delimiter.
///
/// RFC 2046, 5.1.1 requires a delimiter to be on its own line. Two errors of hand-written clients are accepted: a delimiter with no line
/// end before it, if the body ends after it or a part's first field follows, and one with no line end after it, if that field follows at
/// once.
enum DelimiterTail {
    case delimiter(MultipartDelimiter, end: Int)
    /// Not a delimiter: data, or another boundary that begins the same.
    case data
    /// Undecided without more bytes.
    case needsMore

    /// The beginning of the first field in a part's header section: RFC 7578 and RFC 2046 define no others.
    private static let field: StaticString = "content-"

    /// - Parameters:
    ///   - offset: the offset of the first byte after the boundary.
    ///   - lineEndBefore: the line end before the boundary; nil if the boundary is within a line.
    ///   - isFinal: whether the body ends with `bytes`.
    static func judge(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, lineEndBefore: LineEnd?, isFinal: Bool
    ) -> DelimiterTail {
        let end = bytes.count
        let undecided: DelimiterTail = isFinal ? .data : .needsMore
        var index = offset
        var delimiter = MultipartDelimiter(lineEndBefore: lineEndBefore ?? .none, lineEndAfter: .none)
        if index < end, bytes[index] == 45 {
            guard index + 1 < end else { return undecided }
            guard bytes[index + 1] == 45 else { return .data }
            delimiter.isClosing = true
            index += 2
        }
        let padding = index
        while index < end, bytes[index] == 32 || bytes[index] == 9 { index += 1 }
        guard index - padding <= MultipartLimits.padding else { return .data }
        if index > padding { delimiter.padding = Array(bytes[padding..<index]) }

        if index < end, bytes[index] == 10 {
            delimiter.lineEndAfter = .lineFeed
            index += 1
        } else if index < end, bytes[index] == 13 {
            if index + 1 < end {
                guard bytes[index + 1] == 10 else { return .data }
                delimiter.lineEndAfter = .carriageReturnLineFeed
                index += 2
            } else if !isFinal {
                return .needsMore
            } else {
                return delimiter.isClosing ? .delimiter(delimiter, end: index) : .data
            }
        }
        let hasEnded = index == end
        if lineEndBefore != nil, delimiter.lineEndAfter != .none { return .delimiter(delimiter, end: index) }
        if delimiter.isClosing {
            guard hasEnded else { return .data }
            return isFinal ? .delimiter(delimiter, end: index) : .needsMore
        }
        if hasEnded {
            guard isFinal else { return .needsMore }
            return lineEndBefore != nil ? .delimiter(delimiter, end: index) : .data
        }
        // Only one error at a time.
        guard lineEndBefore != nil ? delimiter.padding.isEmpty : delimiter.lineEndAfter != .none else { return .data }
        for position in 0..<self.field.utf8CodeUnitCount {
            guard index + position < end else { return undecided }
            guard bytes[index + position] | 32 == self.field.utf8Start[position] else { return .data }
        }
        return .delimiter(delimiter, end: index)
    }
}
