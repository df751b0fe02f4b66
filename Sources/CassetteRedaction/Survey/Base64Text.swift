internal import TapeBytes

/// A text of base64 as a whole (RFC 4648, 4 and 5), with what it takes to write another content in the same spelling.
struct Base64Text {
    /// Characters of one text. A longer one is a file, which is seldom sent so.
    static let limit = 4 << 20
    /// Shorter ones hold no name and value.
    static let leastLength = 12

    let content: [UInt8]
    private let isURLSafe: Bool
    private let isPadded: Bool

    /// The text around a place that may be in one; nil if there is none, or if it is part of a JSON Web Token, which has its own rules.
    ///
    /// - Parameter isBeginning: whether the place looks like a beginning.
    static func range(in text: SurveyText, around offset: Int, isBeginning: Bool) -> Range<Int>? {
        var start = offset
        let least = max(0, offset - self.limit)
        let isAfterSlash = start > 0 && text.bytes[start - 1] == UInt8(ascii: "/")
        if !isBeginning || !isAfterSlash {
            while start > least, Base64Run.value(text.bytes[start - 1]) != nil { start -= 1 }
        }
        var end = offset
        let most = min(text.bytes.count, start + self.limit)
        while end < most, Base64Run.value(text.bytes[end]) != nil { end += 1 }
        guard end < most || end == text.bytes.count else { return nil }
        let padding = (4 - (end - start) % 4) % 4
        var padded = end
        while padded < text.bytes.count, padded - end < padding, text.bytes[padded] == UInt8(ascii: "=") { padded += 1 }
        let range = start..<padded
        guard range.count >= self.leastLength, text.isWhole(range), text.byte(start - 1) != UInt8(ascii: "."),
            text.byte(padded) != UInt8(ascii: ".")
        else { return nil }
        return range
    }

    /// Nil if it is none.
    init?(_ text: Slice<UnsafeRawBufferPointer>) {
        var content: [UInt8] = []
        content.reserveCapacity(text.count * 3 / 4)
        var bits: UInt32 = 0
        var held = 0
        var count = 0
        var isURLSafe = false
        var isStandard = false
        for character in text {
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
        guard count % 4 != 1, !(isURLSafe && isStandard), text.dropFirst(count).allSatisfy({ $0 == UInt8(ascii: "=") }) else { return nil }
        self.content = content
        self.isURLSafe = isURLSafe
        self.isPadded = count < text.count || count % 4 == 0 && !isURLSafe
    }

    func text(of content: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        content.withUnsafeBytes { Base64.encode($0, into: &text) }
        if self.isURLSafe { text = text.map(Base64Run.urlSafe) }
        if !self.isPadded {
            while text.last == UInt8(ascii: "=") { text.removeLast() }
        }
        return text
    }

    /// Whether a content is a form: names and values, and nothing that other texts have.
    static func isForm(_ content: [UInt8]) -> Bool {
        // Base64 has its own at the end.
        let equals = content.firstIndex(of: UInt8(ascii: "=")) ?? 0
        return equals > 0 && equals + 1 < content.count && content[equals + 1] != UInt8(ascii: "=")
            && !content.contains { $0 <= 32 || "{}<>\"';,[]:".utf8.contains($0) }
    }
}
