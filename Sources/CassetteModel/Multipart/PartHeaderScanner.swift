internal import TapeBytes

/// Finds the end of one part's header section: an empty line, a delimiter, or octets that no field line can have.
///
/// Remembers how far it has looked, so that a section that comes octet by octet is not read again and again.
struct PartHeaderScanner {
    enum Result {
        case needsMore
        /// The part's data begins there.
        case data(start: Int)
        /// The section ends there with a delimiter, without an empty line.
        case delimiter(MultipartDelimiter, start: Int, end: Int)
        /// The body ends within the section.
        case bodyEnd
        case tooMuch(MultipartLimit)
    }

    private var lines = 0
    /// Octets of these lines, and of the line behind them that hold no line feed.
    private var lineStart = 0
    private var searched = 0

    /// `start` is where the section begins: the same octets at every call, with more behind them.
    mutating func scan(
        _ bytes: UnsafeRawBufferPointer, from start: Int, isFinal: Bool, boundary: MultipartBoundary, limits: MultipartLimits
    ) -> Result {
        while start + self.lineStart < bytes.count {
            let line = start + self.lineStart
            let feed = ByteScan.index(of: 10, in: bytes, from: line + self.searched)
            let isWhole = feed < bytes.count
            self.searched = feed - line
            // Judged by numbers that do not depend on how the body is cut: where the line starts, and a longest line.
            let isTooLong = feed - start > limits.headerSection + MultipartParser.window
            guard isWhole || isFinal || isTooLong else { return .needsMore }

            if boundary.stands(at: line, in: bytes),
                case .delimiter(let delimiter, let end) = DelimiterTail.judge(
                    bytes, at: line + boundary.dashed.count, lineEndBefore: LineEnd.none, isFinal: isFinal)
            {
                return .delimiter(delimiter, start: line, end: end)
            }
            let content = isWhole && feed > line && bytes[feed - 1] == 13 ? feed - 1 : feed
            if isWhole, content == line { return .data(start: feed + 1) }
            guard Self.mayBeField(UnsafeRawBufferPointer(rebasing: bytes[line..<content])) else { return .data(start: line) }
            guard !isTooLong, self.lineStart <= limits.headerSection else { return .tooMuch(.headerSection) }
            guard self.lines < limits.headerLines else { return .tooMuch(.headerLines) }
            guard isWhole else { return .bodyEnd }
            self.lines += 1
            self.lineStart = feed + 1 - start
            self.searched = 0
        }
        return isFinal ? .bodyEnd : .needsMore
    }

    /// False for a line with a control octet or one outside ASCII where a field's name would be: the empty line was forgotten.
    private static func mayBeField(_ line: UnsafeRawBufferPointer) -> Bool {
        for octet in line.prefix(MultipartParser.window) {
            if octet == UInt8(ascii: ":") { return true }
            if octet < 32 && octet != 9 || octet >= 127 { return false }
        }
        return true
    }
}
