internal import Platform
internal import TapeBytes

/// A text in which the escapes of URLs, JSON and HTML are decoded, all at once, with the origin of each byte.
///
/// Does not know which kind of escapes a text really has. Anything that is not an escape is left as it is.
package struct EscapeView {
    let bytes: [UInt8]
    /// From each of these points on, the offsets in both texts advance together.
    private let steps: [(view: Int, source: Int)]
    private let sourceCount: Int

    /// The longest escape: `&#x10ffff;`.
    private static let escapeLimit = 10

    /// Nil for a text without escapes.
    init?(_ text: UnsafeRawBufferPointer) {
        guard Self.mayHaveEscapes(text) else { return nil }
        self.init(text, marks: "%\\&")
    }

    /// A text in which only XML entities are decoded; nil if it has none.
    init?(entitiesOf text: UnsafeRawBufferPointer) { self.init(text, marks: "&") }

    /// The text with its escapes decoded, the same decoded once more, and so on; empty for a text without escapes.
    package static func levels(of text: UnsafeRawBufferPointer) -> [[UInt8]] {
        var levels: [[UInt8]] = []
        var view = EscapeView(text)
        while let known = view, levels.count < Self.depthLimit {
            levels.append(known.bytes)
            view = known.bytes.withUnsafeBytes { EscapeView($0) }
        }
        return levels
    }

    private init?(_ text: UnsafeRawBufferPointer, marks: StaticString) {
        let marks = UnsafeBufferPointer(start: marks.utf8Start, count: marks.utf8CodeUnitCount)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var steps: [(view: Int, source: Int)] = [(0, 0)]
        var position = 0
        var plain = 0
        while position < text.count {
            let byte = text[position]
            guard byte == UInt8(ascii: "%") || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "&"), marks.contains(byte),
                let (decoded, length) = Self.escape(text, at: position)
            else {
                position += 1
                continue
            }
            bytes.append(contentsOf: text[plain..<position])
            steps.append((bytes.count, position))
            bytes.append(contentsOf: decoded.bytes.prefix(decoded.count))
            position += length
            plain = position
            // An offset within the bytes of one escape maps to its beginning.
            steps.append((bytes.count, position))
        }
        guard steps.count > 1 else { return nil }
        bytes.append(contentsOf: text[plain...])
        self.bytes = bytes
        self.steps = steps
        self.sourceCount = text.count
    }

    static func mayHaveEscapes(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let base = text.baseAddress, text.count > 1 else { return false }
        for mark in [UInt8(ascii: "%"), UInt8(ascii: "\\"), UInt8(ascii: "&")] where memchr(base, Int32(mark), text.count) != nil {
            return true
        }
        return false
    }

    /// The bytes of the source from which a range of the view was decoded, widened to whole escapes.
    func source(_ range: Range<Int>) -> Range<Int> {
        let start = self.step(at: range.lowerBound)
        var lower = self.steps[start].source + range.lowerBound - self.steps[start].view
        // The offset is within an escape for several bytes.
        if start + 1 < self.steps.count { lower = min(lower, self.isEscape(start) ? self.steps[start].source : lower) }
        guard !range.isEmpty else { return lower..<lower }
        let last = self.step(at: range.upperBound - 1)
        let upper =
            self.isEscape(last)
            ? self.steps[last + 1].source : self.steps[last].source + range.upperBound - self.steps[last].view
        return lower..<max(lower, min(upper, self.sourceCount))
    }

    /// The last step that begins at or before an offset of the view.
    private func step(at offset: Int) -> Int {
        var (low, high) = (0, self.steps.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if self.steps[middle].view <= offset { low = middle } else { high = middle }
        }
        return low
    }

    /// Whether the bytes after a step come from an escape. Steps alternate, except for the very first.
    private func isEscape(_ step: Int) -> Bool { step % 2 == 1 }

    /// A range of the source, widened to whole escapes.
    func widened(_ range: Range<Int>) -> Range<Int> {
        var lower = range.lowerBound
        var upper = range.upperBound
        if let escape = self.escape(around: lower) { lower = escape.lowerBound }
        if let escape = self.escape(around: upper) { upper = escape.upperBound }
        return lower..<upper
    }

    /// The escape that contains an offset of the source, but not at one of its ends.
    private func escape(around offset: Int) -> Range<Int>? {
        var (low, high) = (0, self.steps.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if self.steps[middle].source <= offset { low = middle } else { high = middle }
        }
        guard self.isEscape(low), self.steps[low].source < offset, offset < self.steps[low + 1].source else { return nil }
        return self.steps[low].source..<self.steps[low + 1].source
    }

    // MARK: Escapes

    private typealias Decoded = (bytes: [UInt8], count: Int)

    private static func escape(_ text: UnsafeRawBufferPointer, at offset: Int) -> (Decoded, length: Int)? {
        switch text[offset] {
        case UInt8(ascii: "%"): Self.percent(text, offset)
        case UInt8(ascii: "\\"): Self.backslash(text, offset)
        default: Self.entity(text, offset)
        }
    }

    private static func percent(_ text: UnsafeRawBufferPointer, _ offset: Int) -> (Decoded, length: Int)? {
        guard text.count - offset > 2, let high = Hex.value(text[offset + 1]), let low = Hex.value(text[offset + 2]) else { return nil }
        return (([high << 4 | low], 1), 3)
    }

    private static func backslash(_ text: UnsafeRawBufferPointer, _ offset: Int) -> (Decoded, length: Int)? {
        guard text.count - offset > 1 else { return nil }
        switch text[offset + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "'"): return (([text[offset + 1]], 1), 2)
        case UInt8(ascii: "b"): return (([8], 1), 2)
        case UInt8(ascii: "f"): return (([12], 1), 2)
        case UInt8(ascii: "n"): return (([10], 1), 2)
        case UInt8(ascii: "r"): return (([13], 1), 2)
        case UInt8(ascii: "t"): return (([9], 1), 2)
        case UInt8(ascii: "u"): return self.unicode(text, offset)
        case UInt8(ascii: "x"):
            // JavaScript and Python (ECMA-262, 12.9.4).
            guard text.count - offset > 3, let high = Hex.value(text[offset + 2]), let low = Hex.value(text[offset + 3]) else { return nil }
            return (self.bytes(Unicode.Scalar(high << 4 | low)), 4)
        default: return nil
        }
    }

    private static func unicode(_ text: UnsafeRawBufferPointer, _ offset: Int) -> (Decoded, length: Int)? {
        guard let first = self.unit(text, offset) else { return nil }
        if let scalar = Unicode.Scalar(first) { return (self.bytes(scalar), 6) }
        guard first < 0xDC00, let second = self.unit(text, offset + 6), second >= 0xDC00, second <= 0xDFFF,
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { return nil }
        return (self.bytes(scalar), 12)
    }

    private static func unit(_ text: UnsafeRawBufferPointer, _ offset: Int) -> UInt32? {
        guard text.count - offset > 5, text[offset] == UInt8(ascii: "\\"), text[offset + 1] == UInt8(ascii: "u") else { return nil }
        var unit: UInt32 = 0
        for index in offset + 2..<offset + 6 {
            guard let digit = Hex.value(text[index]) else { return nil }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    private static func bytes(_ scalar: Unicode.Scalar) -> Decoded {
        let bytes = Array(String(scalar).utf8)
        return (bytes, bytes.count)
    }

    private static let entities: [(StaticString, UInt8)] = [
        ("&amp;", UInt8(ascii: "&")), ("&quot;", UInt8(ascii: "\"")), ("&lt;", UInt8(ascii: "<")), ("&gt;", UInt8(ascii: ">")),
        ("&apos;", UInt8(ascii: "'")), ("&plus;", UInt8(ascii: "+")), ("&sol;", UInt8(ascii: "/")), ("&equals;", UInt8(ascii: "=")),
    ]

    /// The five entities that every escaper writes, those of base64, and numeric ones (HTML Living Standard, 13.2.5.72 and 13.2.5.75).
    private static func entity(_ text: UnsafeRawBufferPointer, _ offset: Int) -> (Decoded, length: Int)? {
        guard text.count - offset > 3 else { return nil }
        if text[offset + 1] == UInt8(ascii: "#") { return self.numeric(text, offset) }
        for (name, byte) in Self.entities where text.count - offset >= name.utf8CodeUnitCount {
            if (0..<name.utf8CodeUnitCount).allSatisfy({ text[offset + $0] == name.utf8Start[$0] }) {
                return (([byte], 1), name.utf8CodeUnitCount)
            }
        }
        return nil
    }

    private static func numeric(_ text: UnsafeRawBufferPointer, _ offset: Int) -> (Decoded, length: Int)? {
        let isHex = text[offset + 2] | 32 == UInt8(ascii: "x")
        var index = offset + (isHex ? 3 : 2)
        let start = index
        var value: UInt32 = 0
        while index < text.count, index - offset < Self.escapeLimit, let digit = Hex.value(text[index]), isHex || digit < 10 {
            value = value * (isHex ? 16 : 10) + UInt32(digit)
            index += 1
        }
        guard index > start, index < text.count, text[index] == UInt8(ascii: ";"), let scalar = Unicode.Scalar(value) else { return nil }
        return (self.bytes(scalar), index + 1 - offset)
    }
}

extension EscapeView {
    /// How many levels of escapes are decoded: a URL in a URL's query in JSON has three.
    static let depthLimit = 3

    /// The text with all escapes decoded, repeatedly.
    static func canonical(_ text: [UInt8]) -> [UInt8] {
        var text = text
        for _ in 0..<Self.depthLimit {
            guard let view = text.withUnsafeBytes({ EscapeView($0) }) else { break }
            text = view.bytes
        }
        return text
    }
}
