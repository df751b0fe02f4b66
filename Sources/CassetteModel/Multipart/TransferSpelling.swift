internal import TapeBytes

/// How a part's bytes are spelled in its Content-Transfer-Encoding, so that encoding them again gives exactly the received bytes.
public enum TransferSpelling: Sendable, Hashable {
    case base64(Base64Spelling)
    case quotedPrintable(QuotedPrintableSpelling)

    /// The spelling of `text` in the encoding declared by a part's fields, and the decoded bytes. Nil if there is no encoding, or if
    /// encoding the bytes again does not give `text`.
    package static func find(_ text: [UInt8], _ fields: HeaderFields) -> (spelling: TransferSpelling, bytes: [UInt8])? {
        switch ContentTransferEncoding(fields) {
        case .identity, .other: nil
        case .base64: Base64Spelling.find(text).map { (.base64($0.spelling), $0.bytes) }
        case .quotedPrintable: QuotedPrintableSpelling.find(text).map { (.quotedPrintable($0.spelling), $0.bytes) }
        }
    }

    /// The bytes as they are sent.
    public func write(_ bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .base64(let spelling): spelling.write(bytes)
        case .quotedPrintable(let spelling): spelling.write(bytes)
        }
    }
}

/// How a sender writes base64 (RFC 2045, 6.8): the length of lines, and their line ends.
public struct Base64Spelling: Sendable, Hashable {
    /// The length of each line but the last; 0 for a single line of any length.
    public var line: Int
    public var lineEnd: LineEnd
    /// Whether the last line also has a line end.
    public var isEnded: Bool

    /// The longest line that RFC 2045, 6.8 allows, which most senders use.
    public static let usualLine = 76
    /// Far longer than any sender writes: RFC 5322, 2.1.1 allows 998.
    public static let longestLine = 1 << 16

    public init(line: Int = Self.usualLine, lineEnd: LineEnd = .carriageReturnLineFeed, isEnded: Bool = false) {
        self.line = line
        self.lineEnd = lineEnd
        self.isEnded = isEnded
    }

    /// The spelling of `text` and the decoded bytes; nil if writing them again does not give `text`.
    static func find(_ text: [UInt8]) -> (spelling: Base64Spelling, bytes: [UInt8])? {
        guard let bytes = Base64.decode(text.filter { $0 != 13 && $0 != 10 }) else { return nil }
        var spelling = Base64Spelling()
        let feed = text.firstIndex(of: 10).map { $0 + 1 } ?? text.count
        let lineEnd = text.withUnsafeBytes { LineEnd.before(feed, from: 0, in: $0) }
        let first = feed - lineEnd.count
        if lineEnd != .none {
            spelling.lineEnd = lineEnd
            spelling.isEnded = text.last == 10
        }
        if feed < text.count { spelling.line = first } else if first > spelling.line { spelling.line = 0 }
        guard spelling.line <= Self.longestLine, spelling.write(bytes) == text else { return nil }
        return (spelling, bytes)
    }

    func write(_ bytes: [UInt8]) -> [UInt8] {
        var characters: [UInt8] = []
        bytes.withUnsafeBytes { Base64.encode($0, into: &characters) }
        var text: [UInt8] = []
        let line = self.line > 0 ? self.line : max(characters.count, 1)
        for start in stride(from: 0, to: characters.count, by: line) {
            let end = min(start + line, characters.count)
            text += characters[start..<end]
            if end < characters.count || self.isEnded { text += self.lineEnd.bytes }
        }
        return text
    }
}

/// How a sender writes quoted-printable (RFC 2045, 6.7): where it breaks lines, and what it escapes.
///
/// Supports only senders that break lines as late as possible, as most do.
public struct QuotedPrintableSpelling: Sendable, Hashable {
    /// The length of the longest line, including the equals sign of a soft break; 0 if no line is broken.
    public var line: Int
    /// The line end of the text's own lines and of soft breaks.
    public var lineEnd: LineEnd
    public var usesLowerCaseHex: Bool
    /// Bytes that are escaped unnecessarily, in order.
    public var escaped: [UInt8]

    /// The longest that RFC 2045, 6.7 (5) allows.
    public static let usualLine = 76
    /// A soft break and an escape.
    public static let shortestLine = 4
    public static let longestLine = 1 << 16

    public init(
        line: Int = Self.usualLine, lineEnd: LineEnd = .carriageReturnLineFeed, usesLowerCaseHex: Bool = false, escaped: [UInt8] = []
    ) {
        self.line = line
        self.lineEnd = lineEnd
        self.usesLowerCaseHex = usesLowerCaseHex
        self.escaped = escaped
    }

    /// Bytes that need no escape, except white space at the end of a line (RFC 2045, 6.7 (2) and (3)).
    package static func mayBePlain(_ byte: UInt8) -> Bool { byte >= 32 && byte < 127 && byte != UInt8(ascii: "=") || byte == 9 }

    // MARK: Finding

    /// The spelling of `text` and the decoded bytes; nil if writing them again does not give `text`.
    static func find(_ text: [UInt8]) -> (spelling: QuotedPrintableSpelling, bytes: [UInt8])? {
        guard let bytes = ContentTransferEncoding.quotedPrintable.decode(text) else { return nil }
        var spelling = QuotedPrintableSpelling()
        let feed = text.firstIndex(of: 10).map { $0 + 1 } ?? text.count
        let lineEnd = text.withUnsafeBytes { LineEnd.before(feed, from: 0, in: $0) }
        if lineEnd != .none { spelling.lineEnd = lineEnd }
        let survey = Survey(text)
        spelling.usesLowerCaseHex = survey.hasLower
        spelling.escaped = (UInt8(0)..<128).filter { survey.escaped[Int($0)] && self.mayBePlain($0) }
        // An escape that did not fit leaves up to two columns free.
        let lines = survey.longestCut > 0 ? [self.usualLine] + (0...2).map { survey.longestCut + $0 } : [self.usualLine, 0]
        for line in lines where line == 0 || (self.shortestLine...self.longestLine).contains(line) {
            spelling.line = line
            if spelling.write(bytes) == text { return (spelling, bytes) }
        }
        return nil
    }

    private struct Survey {
        /// ASCII bytes that are escaped, except for white space at the end of a line, which must be.
        var escaped = Array(repeating: false, count: 128)
        var hasLower = false
        /// The length of the longest line that ends in a soft break.
        var longestCut = 0

        init(_ text: [UInt8]) {
            var lineStart = 0
            var index = 0
            while index < text.count {
                let byte = text[index]
                if byte == 10 {
                    let end = index > lineStart && text[index - 1] == 13 ? index - 1 : index
                    if end > lineStart, text[end - 1] == UInt8(ascii: "=") { self.longestCut = max(self.longestCut, end - lineStart) }
                    lineStart = index + 1
                } else if byte == UInt8(ascii: "="), text.count - index > 2, let upper = Hex.value(text[index + 1]),
                    let lower = Hex.value(text[index + 2])
                {
                    self.hasLower = self.hasLower || text[index + 1] >= 97 || text[index + 2] >= 97
                    let (value, next) = (upper << 4 | lower, index + 3)
                    let isAtLineEnd = next == text.count || text[next] == 13 || text[next] == 10
                    if value < 128, value != 32 && value != 9 || !isAtLineEnd { self.escaped[Int(value)] = true }
                    index += 2
                }
                index += 1
            }
        }
    }

    // MARK: Writing

    func write(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        var start = 0
        var search = 0
        while start < bytes.count {
            let feed = bytes[search...].firstIndex(of: 10)
            search = feed.map { $0 + 1 } ?? bytes.count
            let isEnd = feed != nil && bytes[start..<search].suffix(self.lineEnd.count).elementsEqual(self.lineEnd.bytes)
            // If lines end in CRLF, a lone line feed is data.
            guard isEnd || search == bytes.count else { continue }
            self.writeLine(bytes[start..<(isEnd ? search - self.lineEnd.count : search)], into: &text)
            if isEnd { text += self.lineEnd.bytes }
            start = search
        }
        return text
    }

    private func writeLine(_ line: ArraySlice<UInt8>, into text: inout [UInt8]) {
        var column = 0
        for index in line.indices {
            let byte = line[index]
            let isLast = index + 1 == line.endIndex
            let isPlain = Self.mayBePlain(byte) && !self.escaped.contains(byte) && !(isLast && (byte == 32 || byte == 9))
            let width = isPlain ? 1 : 3
            if self.line > 0, column + width > (isLast ? self.line : self.line - 1) {
                text.append(UInt8(ascii: "="))
                text += self.lineEnd.bytes
                column = 0
            }
            column += width
            guard !isPlain else {
                text.append(byte)
                continue
            }
            text.append(UInt8(ascii: "="))
            for digit in [Hex.digit(byte >> 4), Hex.digit(byte & 15)] {
                text.append(digit >= 97 && !self.usesLowerCaseHex ? digit & ~32 : digit)
            }
        }
    }
}
