/// Judges what stands behind two hyphens and a boundary: only some continuations make it a delimiter.
///
/// RFC 2046, 5.1.1 wants a delimiter on a line of its own. Two slips of hand-written clients are read as well: a delimiter with no line end
/// in front, where the body ends behind it or a part's first field follows, and one with no line end behind, where that field follows at once.
enum DelimiterTail {
    case delimiter(MultipartDelimiter, end: Int)
    /// Not a delimiter: another boundary that begins alike, or data.
    case data
    /// More octets decide.
    case needsMore

    /// What the first field of a part's header section begins with: all that RFC 7578 and RFC 2046 name.
    private static let field: StaticString = "content-"

    /// - Parameters:
    ///   - offset: behind the boundary.
    ///   - lineEndBefore: of the boundary's line; nil where it stands within a line.
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
        // One slip at a time.
        guard lineEndBefore != nil ? delimiter.padding.isEmpty : delimiter.lineEndAfter != .none else { return .data }
        for position in 0..<self.field.utf8CodeUnitCount {
            guard index + position < end else { return undecided }
            guard bytes[index + position] | 32 == self.field.utf8Start[position] else { return .data }
        }
        return .delimiter(delimiter, end: index)
    }
}
