internal import TapeBytes

/// A text that is base64 as a whole (RFC 4648, 4 and 5), with everything needed to write another content in the same spelling.
struct Base64Text {
    /// The longest text, in characters. A longer one is a file, which is rarely sent this way.
    static let limit = 4 << 20
    /// Shorter texts have no room for a name and a value.
    static let leastLength = 12

    /// The shortest line of a text with several lines, except for the last, in characters.
    private static let leastLine = 16

    let content: [UInt8]
    private let isURLSafe: Bool
    private let isPadded: Bool
    /// The lengths of the first line and of the others, and the characters between two lines; nil for a text of one line.
    private let lines: (first: Int, width: Int, end: [UInt8])?

    /// The characters around an offset that may be base64, joining lines of equal length. `isText` is false if they are too short or too
    /// long, or part of a JSON Web Token, which has its own rules.
    ///
    /// - Parameter isBeginning: whether the offset looks like the beginning.
    static func run(in text: SurveyText, around offset: Int, isBeginning: Bool) -> (range: Range<Int>, isText: Bool) {
        var start = offset
        let least = max(0, offset - self.limit)
        let isAfterSlash = start > 0 && text.bytes[start - 1] == UInt8(ascii: "/")
        if !isBeginning || !isAfterSlash {
            while start > least, Base64Run.value(text.bytes[start - 1]) != nil { start -= 1 }
        }
        var end = offset
        let most = min(text.bytes.count, start + self.limit)
        while end < most, Base64Run.value(text.bytes[end]) != nil { end += 1 }
        guard end < most || end == text.bytes.count else { return (start..<end, false) }
        self.addLines(in: text, &start, &end, least: least, most: most)
        // All lines but the last consist of whole groups.
        let last = (start..<end).last { text.bytes[$0] == 10 }.map { $0 + 1 } ?? start
        let padding = (4 - (end - last) % 4) % 4
        var padded = end
        while padded < text.bytes.count, padded - end < padding, text.bytes[padded] == UInt8(ascii: "=") { padded += 1 }
        let range = start..<padded
        let isText =
            range.count >= self.leastLength && text.isWhole(range) && text.byte(start - 1) != UInt8(ascii: ".")
            && text.byte(padded) != UInt8(ascii: ".")
        return (range, isText)
    }

    /// Adds the lines before and after one, as mail and PEM split base64 (RFC 2045, 6.8): all but the last have the same length.
    private static func addLines(in text: SurveyText, _ start: inout Int, _ end: inout Int, least: Int, most: Int) {
        var width: Int?
        while start > least + 1, text.bytes[start - 1] == 10 {
            let last = text.bytes[start - 2] == 13 ? start - 2 : start - 1
            var first = last
            while first > least, Base64Run.value(text.bytes[first - 1]) != nil { first -= 1 }
            let count = last - first
            guard count >= self.leastLine, count % 4 == 0, width ?? count == count, width != nil || end - start <= count else { break }
            width = count
            start = first
        }
        // The start of the last line found so far.
        var line = (start..<end).last { text.bytes[$0] == 10 }.map { $0 + 1 } ?? start
        while end - line == width ?? (end - line), end - line >= self.leastLine, (end - line) % 4 == 0 {
            let next = text.byte(end) == 13 ? end + 2 : end + 1
            guard next < most, text.bytes[next - 1] == 10, !self.mayBegin(text, next) else { return }
            var last = next
            while last < most, Base64Run.value(text.bytes[last]) != nil { last += 1 }
            // A word at the beginning of a sentence, or the name of a header field, is not a line of base64.
            guard last > next, last - next <= end - line, text.byte(last) != 32, text.byte(last) != UInt8(ascii: ":") else { return }
            width = end - line
            line = next
            end = last
        }
    }

    /// Whether something else begins: another text, as in a list, or a multipart delimiter.
    private static func mayBegin(_ text: SurveyText, _ offset: Int) -> Bool {
        ["eyJ", "eyA", "--"].contains { text.bytes[offset...].starts(with: $0.utf8) }
    }

    /// Nil if the text is not base64.
    init?(_ text: Slice<UnsafeRawBufferPointer>) {
        var content: [UInt8] = []
        content.reserveCapacity(text.count * 3 / 4)
        var bits: UInt32 = 0
        var held = 0
        var count = 0
        var isURLSafe = false
        var isStandard = false
        var isFirst = true
        var lines: (first: Int, width: Int, end: [UInt8])?
        for character in text {
            if character <= 32 {
                if lines == nil { lines = (count, 0, []) }
                if isFirst {
                    lines?.end.append(character)
                } else if let first = lines?.first, lines?.width == 0 {
                    lines?.width = count - first
                }
                continue
            }
            if lines != nil { isFirst = false }
            guard let value = Base64Run.value(character) else { break }
            if character == UInt8(ascii: "-") || character == UInt8(ascii: "_") { isURLSafe = true }
            if character == UInt8(ascii: "+") || character == UInt8(ascii: "/") { isStandard = true }
            count += 1
            bits = bits << 6 | UInt32(value)
            held += 6
            if held >= 8 {
                held -= 8
                content.append(UInt8(truncatingIfNeeded: bits >> UInt32(held)))
            }
        }
        let padding = text.reversed().prefix { $0 == UInt8(ascii: "=") || $0 <= 32 }.reduce(0) { $0 + ($1 <= 32 ? 0 : 1) }
        let breaks = lines.map { lines in text.reduce(0) { $0 + ($1 <= 32 ? 1 : 0) } / max(lines.end.count, 1) * lines.end.count } ?? 0
        guard count % 4 != 1, !(isURLSafe && isStandard), count + padding + breaks == text.count else { return nil }
        // The second line may be the last one, and shorter.
        if let first = lines?.first, lines?.width == 0 { lines?.width = max(first, count + padding - first) }
        self.lines = lines
        self.content = content
        self.isURLSafe = isURLSafe
        self.isPadded = padding > 0 || count % 4 == 0 && !isURLSafe
    }

    /// - Parameter isOneLine: omits line ends, which the surrounding text might have to escape.
    func text(of content: [UInt8], isOneLine: Bool = false) -> [UInt8] {
        var text: [UInt8] = []
        content.withUnsafeBytes { Base64.encode($0, into: &text) }
        if self.isURLSafe { text = text.map(Base64Run.urlSafe) }
        if !self.isPadded {
            while text.last == UInt8(ascii: "=") { text.removeLast() }
        }
        guard let lines = self.lines, !isOneLine, lines.width > 0 else { return text }
        let others = text.dropFirst(lines.first)
        let rows = stride(from: others.startIndex, to: others.endIndex, by: lines.width).map {
            others[$0..<min($0 + lines.width, others.endIndex)]
        }
        return Array(([text.prefix(lines.first)] + rows).joined(separator: lines.end))
    }

    /// Whether a content is a form: names and values, with no characters that other texts have.
    static func isForm(_ content: [UInt8]) -> Bool {
        // Base64 may end with equals signs of its own.
        let equals = content.firstIndex(of: UInt8(ascii: "=")) ?? 0
        return equals > 0 && equals + 1 < content.count && content[equals + 1] != UInt8(ascii: "=")
            && !content.contains { $0 <= 32 || "{}<>\"';,[]:".utf8.contains($0) }
    }
}
