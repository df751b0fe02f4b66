internal import TapeBytes

/// How octets are written in base64 by one sender (RFC 2045, 6.8): the length and the ends of its lines.
public struct Base64Spelling: Sendable, Hashable {
    /// Characters of a line besides the last; 0 for one line of any length.
    public var line: Int
    public var lineEnd: LineEnd
    /// Whether the last line has a line end too.
    public var isEnded: Bool

    /// The longest that RFC 2045, 6.8 allows, which most senders write.
    public static let usualLine = 76
    /// Far above what anybody writes: RFC 5322, 2.1.1 allows 998.
    public static let longestLine = 1 << 16

    public init(line: Int = Self.usualLine, lineEnd: LineEnd = .carriageReturnLineFeed, isEnded: Bool = false) {
        self.line = line
        self.lineEnd = lineEnd
        self.isEnded = isEnded
    }

    /// The spelling of `text` and what it stands for; nil where writing that again does not give `text`.
    static func find(_ text: [UInt8]) -> (spelling: Base64Spelling, octets: [UInt8])? {
        guard let octets = Base64.decode(text.filter { $0 != 13 && $0 != 10 }) else { return nil }
        var spelling = Base64Spelling()
        let feed = text.firstIndex(of: 10).map { $0 + 1 } ?? text.count
        let lineEnd = text.withUnsafeBytes { LineEnd.before(feed, from: 0, in: $0) }
        let first = feed - lineEnd.count
        if lineEnd != .none {
            spelling.lineEnd = lineEnd
            spelling.isEnded = text.last == 10
        }
        if feed < text.count { spelling.line = first } else if first > spelling.line { spelling.line = 0 }
        guard spelling.line <= Self.longestLine, spelling.write(octets) == text else { return nil }
        return (spelling, octets)
    }

    func write(_ octets: [UInt8]) -> [UInt8] {
        var characters: [UInt8] = []
        octets.withUnsafeBytes { Base64.encode($0, into: &characters) }
        var text: [UInt8] = []
        let line = self.line > 0 ? self.line : max(characters.count, 1)
        for start in stride(from: 0, to: characters.count, by: line) {
            let end = min(start + line, characters.count)
            text += characters[start..<end]
            if end < characters.count || self.isEnded { text += self.lineEnd.octets }
        }
        return text
    }
}
