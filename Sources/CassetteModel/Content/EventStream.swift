public import TapeBytes

/// Server-sent events (HTML Living Standard, 9.2): the bytes, and the ranges of each event and its lines.
///
/// Does not interpret fields; knows only that a blank line ends an event.
public struct EventStream: Sendable, Hashable {
    public let bytes: [UInt8]
    /// The line end of all lines.
    public let lineEnd: LineEnd
    /// White space of the JSON in `data`, which a cassette shows as structure.
    public let style: JSONStyle

    /// Nil if the line ends differ or are a lone CR, or if no event is complete.
    public init?(_ bytes: [UInt8]) {
        guard let lineEnd = bytes.withUnsafeBytes(Self.lineEnd(of:)) else { return nil }
        self.init(bytes: bytes, lineEnd: lineEnd)
        guard !self.events.isEmpty else { return nil }
    }

    package init(bytes: [UInt8], lineEnd: LineEnd, style: JSONStyle? = nil) {
        self.bytes = bytes
        self.lineEnd = lineEnd
        self.style = style ?? bytes.withUnsafeBytes(Self.style(of:))
    }

    private static func lineEnd(of bytes: UnsafeRawBufferPointer) -> LineEnd? {
        var found: LineEnd?
        for line in JSONLines.split(bytes) where line.lineEnd != .none {
            guard found == nil || found == line.lineEnd else { return nil }
            found = line.lineEnd
        }
        // For a client, a CR within a line ends it.
        var returns = 0
        for byte in bytes where byte == 13 { returns += 1 }
        let feeds = ByteScan.count(of: 10, in: bytes, upTo: bytes.count)
        return returns == (found == .carriageReturnLineFeed ? feeds : 0) ? found : nil
    }

    /// The style of the longest JSON in `data`.
    private static func style(of bytes: UnsafeRawBufferPointer) -> JSONStyle {
        let lines = JSONLines.split(bytes).filter { self.isJSON(UnsafeRawBufferPointer(rebasing: bytes[$0.content])) }
        guard let longest = lines.max(by: { $0.content.count < $1.content.count }) else { return .compact }
        let style = JSONBody.style(of: UnsafeRawBufferPointer(rebasing: bytes[longest.content].dropFirst(self.prefix.count)))
        guard let style, style.indent == nil, style.tail.isEmpty else { return .compact }
        return style
    }

    package static let prefix = Array("data: ".utf8)

    /// Whether a line is `data: ` followed by a possible JSON object or array.
    package static func isJSON(_ line: UnsafeRawBufferPointer) -> Bool {
        guard line.count > self.prefix.count, line.starts(with: self.prefix) else { return false }
        let first = line[self.prefix.count]
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }

    /// The lines of each complete event, as ranges of `bytes` without line ends.
    public var events: [[Range<Int>]] { self.split.events }

    /// The bytes after the last blank line: the beginning of an incomplete event.
    public var rest: Range<Int> { self.split.rest }

    package var split: (events: [[Range<Int>]], rest: Range<Int>) {
        var events: [[Range<Int>]] = []
        var event: [Range<Int>] = []
        var end = 0
        for line in self.bytes.withUnsafeBytes(JSONLines.split) where line.lineEnd != .none {
            if line.content.isEmpty {
                events.append(event)
                event = []
                end = line.content.upperBound + line.lineEnd.count
            } else {
                event.append(line.content)
            }
        }
        return (events, end..<self.bytes.count)
    }
}
