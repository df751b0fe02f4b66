internal import TapeBytes

/// How octets are written in quoted-printable by one sender (RFC 2045, 6.7): where its lines are cut, and what it escapes.
///
/// Lines are cut as late as they can be, as most senders do it; others are not spelled.
public struct QuotedPrintableSpelling: Sendable, Hashable {
    /// Characters of the longest line, with the equals sign of a soft break; 0 where no line is cut.
    public var line: Int
    /// Of the text's own line ends and of soft breaks.
    public var lineEnd: LineEnd
    public var usesLowerCaseHex: Bool
    /// Octets that are escaped besides those that have to be, in order.
    public var escaped: [UInt8]

    /// The longest that RFC 2045, 6.7 (5) allows.
    public static let usualLine = 76
    /// A soft break, an escape and one character more.
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

    /// Octets that may stand as they are, where they do not end a line (RFC 2045, 6.7 (2) and (3)).
    package static func mayBePlain(_ octet: UInt8) -> Bool { octet >= 32 && octet < 127 && octet != UInt8(ascii: "=") || octet == 9 }

    // MARK: Finding

    /// The spelling of `text` and what it stands for; nil where writing that again does not give `text`.
    static func find(_ text: [UInt8]) -> (spelling: QuotedPrintableSpelling, octets: [UInt8])? {
        guard let octets = ContentTransferEncoding.quotedPrintable.decode(text) else { return nil }
        var spelling = QuotedPrintableSpelling()
        let feed = text.firstIndex(of: 10).map { $0 + 1 } ?? text.count
        let lineEnd = text.withUnsafeBytes { LineEnd.before(feed, from: 0, in: $0) }
        if lineEnd != .none { spelling.lineEnd = lineEnd }
        let survey = Survey(text)
        spelling.usesLowerCaseHex = survey.hasLower
        spelling.escaped = (UInt8(0)..<128).filter { survey.escaped[Int($0)] && self.mayBePlain($0) }
        // An escape that did not fit leaves two places free.
        let lines = survey.longestCut > 0 ? [self.usualLine] + (0...2).map { survey.longestCut + $0 } : [self.usualLine, 0]
        for line in lines where line == 0 || (self.shortestLine...self.longestLine).contains(line) {
            spelling.line = line
            if spelling.write(octets) == text { return (spelling, octets) }
        }
        return nil
    }

    private struct Survey {
        /// Within a line: at its end white space has to be.
        var escaped = Array(repeating: false, count: 128)
        var hasLower = false
        /// Characters of the longest line that ends in a soft break.
        var longestCut = 0

        init(_ text: [UInt8]) {
            var lineStart = 0
            var index = 0
            while index < text.count {
                let octet = text[index]
                if octet == 10 {
                    let end = index > lineStart && text[index - 1] == 13 ? index - 1 : index
                    if end > lineStart, text[end - 1] == UInt8(ascii: "=") { self.longestCut = max(self.longestCut, end - lineStart) }
                    lineStart = index + 1
                } else if octet == UInt8(ascii: "="), text.count - index > 2, let upper = Hex.value(text[index + 1]),
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

    func write(_ octets: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(octets.count)
        var start = 0
        var search = 0
        while start < octets.count {
            let feed = octets[search...].firstIndex(of: 10)
            search = feed.map { $0 + 1 } ?? octets.count
            let isEnd = feed != nil && octets[start..<search].suffix(self.lineEnd.count).elementsEqual(self.lineEnd.octets)
            // A line feed alone is data where lines end in CRLF.
            guard isEnd || search == octets.count else { continue }
            self.writeLine(octets[start..<(isEnd ? search - self.lineEnd.count : search)], into: &text)
            if isEnd { text += self.lineEnd.octets }
            start = search
        }
        return text
    }

    private func writeLine(_ line: ArraySlice<UInt8>, into text: inout [UInt8]) {
        var column = 0
        for index in line.indices {
            let octet = line[index]
            let isLast = index + 1 == line.endIndex
            let isPlain = Self.mayBePlain(octet) && !self.escaped.contains(octet) && !(isLast && (octet == 32 || octet == 9))
            let width = isPlain ? 1 : 3
            if self.line > 0, column + width > (isLast ? self.line : self.line - 1) {
                text.append(UInt8(ascii: "="))
                text += self.lineEnd.octets
                column = 0
            }
            column += width
            guard !isPlain else {
                text.append(octet)
                continue
            }
            text.append(UInt8(ascii: "="))
            for digit in [Hex.digit(octet >> 4), Hex.digit(octet & 15)] {
                text.append(digit >= 97 && !self.usesLowerCaseHex ? digit & ~32 : digit)
            }
        }
    }
}
