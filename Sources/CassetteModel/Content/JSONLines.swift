public import TapeBytes

/// JSON texts, one per line (NDJSON): the bytes, and the white space that restores them from their structure.
public struct JSONLines: Sendable, Hashable {
    public let bytes: [UInt8]
    /// The style of every line, without its line end.
    public let style: JSONStyle
    public let lineEnd: LineEnd
    /// Whether the last line also has a line end.
    public let isEnded: Bool

    /// Nil if a line is not an object or array, no single style fits all lines, or there is only one line without a line end.
    public init?(_ bytes: [UInt8]) {
        let lines = bytes.withUnsafeBytes { Self.split($0) }
        guard let first = lines.first, let longest = lines.max(by: { $0.content.count < $1.content.count }), let last = lines.last,
            first.lineEnd != .none
        else { return nil }
        guard lines.dropLast().allSatisfy({ $0.lineEnd == first.lineEnd }), last.lineEnd == first.lineEnd || last.lineEnd == .none else {
            return nil
        }
        let style: JSONStyle? = bytes.withUnsafeBytes { buffer in
            guard let style = JSONBody.style(of: UnsafeRawBufferPointer(rebasing: buffer[longest.content])), style.indent == nil,
                style.tail.isEmpty
            else { return nil }
            let isCommon = lines.allSatisfy { line in
                let line = UnsafeRawBufferPointer(rebasing: buffer[line.content])
                guard let first = line.first, first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { return false }
                return JSONBody.restore(line, style: style)?.withUnsafeBytes { $0.elementsEqualFast(line) } == true
            }
            return isCommon ? style : nil
        }
        guard let style else { return nil }
        self.bytes = bytes
        self.style = style
        self.lineEnd = first.lineEnd
        self.isEnded = last.lineEnd != .none
    }

    /// Restores lines from their form in a cassette; nil if one is not JSON.
    package init?(restoring lines: [ArraySlice<UInt8>], style: JSONStyle, lineEnd: LineEnd, isEnded: Bool) {
        var bytes: [UInt8] = []
        for (index, line) in lines.enumerated() {
            guard let text = line.withUnsafeBytes({ JSONBody.restore($0, style: style) }) else { return nil }
            bytes += text
            if isEnded || index < lines.count - 1 { bytes += lineEnd.bytes }
        }
        self.bytes = bytes
        self.style = style
        self.lineEnd = lineEnd
        self.isEnded = isEnded
    }

    /// The ranges of the lines in `bytes`, without line ends.
    public var lines: [Range<Int>] { self.bytes.withUnsafeBytes { Self.split($0).map(\.content) } }

    struct Line {
        var content: Range<Int>
        var lineEnd: LineEnd
    }

    static func split(_ bytes: UnsafeRawBufferPointer) -> [Line] {
        var lines: [Line] = []
        var start = 0
        while start < bytes.count {
            let next = min(ByteScan.index(of: 10, in: bytes, from: start) + 1, bytes.count)
            let lineEnd = LineEnd.before(next, from: start, in: bytes)
            lines.append(Line(content: start..<next - lineEnd.count, lineEnd: lineEnd))
            start = next
        }
        return lines
    }
}
