internal import TapeBytes

/// Base64 within other text, starting at a group of four characters (RFC 4648, 4 and 5).
struct Base64Run {
    /// From the start of the group to the end, including padding.
    let range: Range<Int>
    let content: [UInt8]
    private let isURLSafe: Bool
    private let isPadded: Bool
    /// Whether the run continues.
    private let isCut: Bool

    /// How many characters are decoded at once. Only the beginning of a longer run is encoded again, and keeps its group alignment.
    static let limit = 32 << 10

    /// The characters of `secret`'s base64 that depend only on its own bits, if it follows `alignment` bytes of a group.
    static func core(of secret: [UInt8], alignment: Int) -> [UInt8] {
        let padded = Array(repeating: 0, count: alignment) + secret
        var text: [UInt8] = []
        padded.withUnsafeBytes { Base64.encode($0, into: &text) }
        let first = Self.offset(ofAlignment: alignment)
        return Array(text[first..<max(first, padded.count * 8 / 6)])
    }

    /// How many characters of the group precede the core.
    static func offset(ofAlignment alignment: Int) -> Int { (alignment * 8 + 5) / 6 }

    static func urlSafe(_ character: UInt8) -> UInt8 {
        switch character {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        default: character
        }
    }

    static func value(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: Base64.value(character)
        }
    }

    /// The run around a core at an offset, from the start of its group; nil if the group would begin outside of the text.
    init?(_ text: UnsafeRawBufferPointer, core offset: Int, alignment: Int) {
        let start = offset - Self.offset(ofAlignment: alignment)
        guard start >= 0 else { return nil }
        let most = min(text.count, max(start + Self.limit, offset + NamedValue.limit) & ~3 | start & 3)
        var end = start
        var content: [UInt8] = []
        var characters = Base64Characters(isInPath: Base64Characters.isInPath(start, of: text))
        var isURLSafe = false
        while end < most, let value = Self.value(text[end]), characters.take(value, &content) {
            isURLSafe = isURLSafe || text[end] == UInt8(ascii: "-") || text[end] == UInt8(ascii: "_")
            end += 1
        }
        guard end > offset else { return nil }
        self.isCut = characters.hasLooseBits || end == most && end < text.count && Self.value(text[end]) != nil
        if characters.hasLooseBits {
            // If encoded again, the last characters would change.
            content.removeLast((end - start) % 4 - 1)
            end -= (end - start) % 4
            guard end > offset else { return nil }
        }
        // A single character of a group encodes no whole byte, so it is left out.
        if (end - start) % 4 == 1 { end -= 1 }
        let padding = (4 - (end - start) % 4) % 4
        var padded = end
        while padded < text.count, padded - end < padding, text[padded] == UInt8(ascii: "=") { padded += 1 }
        self.isPadded = padded > end
        self.range = start..<padded
        self.content = content
        self.isURLSafe = isURLSafe
    }

    /// How many characters before a run are decoded to see what surrounds its content.
    private static let contextLimit = 172

    /// Whether a range of the content is within a placeholder, which may begin before the run.
    func isInPlaceholder(_ range: Range<Int>, in text: UnsafeRawBufferPointer) -> Bool {
        guard range.lowerBound < Self.contextLimit else { return self.content.withUnsafeBytes { Placeholder.covers(range, in: $0) } }
        var start = self.range.lowerBound
        while start > 0, self.range.lowerBound - start < Self.contextLimit, Self.value(text[start - 1]) != nil { start -= 1 }
        start += (self.range.lowerBound - start) % 4
        let context = Base64Text(text[start..<self.range.lowerBound])?.content ?? []
        return (context + self.content.prefix(range.upperBound + Self.contextLimit)).withUnsafeBytes {
            Placeholder.covers(range.lowerBound + context.count..<range.upperBound + context.count, in: $0)
        }
    }

    /// The edited content in the same spelling. If the run continues, spaces after the last edit preserve the alignment of the groups.
    func text(with edits: EditList) -> [UInt8] {
        guard self.isCut, let last = edits.edits.last else { return self.text(of: edits.applied(to: self.content)) }
        let more = (3 - edits.growth % 3) % 3
        let filler = Edit(range: last.range, bytes: last.bytes + Array(repeating: 32, count: more))
        return self.text(of: EditList(edits.edits.dropLast() + [filler]).applied(to: self.content))
    }

    private func text(of content: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        content.withUnsafeBytes { Base64.encode($0, into: &text) }
        if self.isURLSafe { text = text.map(Self.urlSafe) }
        let isWhole = self.range.count % 4 == 0
        if !self.isPadded, !isWhole || self.isURLSafe {
            while text.last == UInt8(ascii: "=") { text.removeLast() }
        }
        return text
    }
}
