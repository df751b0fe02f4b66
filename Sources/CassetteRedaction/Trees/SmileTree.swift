internal import TapeBytes

/// The values of Smile (https://github.com/FasterXML/smile-format-specification, version 1.0.6).
///
/// Short names and strings may be referred to by number after they occurred once. A replaced string keeps its number: a short one stays
/// short, and a long one, which has no number, stays long.
struct SmileTree: ValueTree {
    static let header: [UInt8] = [0x3A, 0x29, 0x0A]

    let bytes: UnsafeRawBufferPointer
    var found: [Edit] = []

    private let sharesNames: Bool
    private let sharesStrings: Bool
    private var names: [[UInt8]] = []
    private var strings: [[UInt8]] = []

    /// How many names or strings have numbers. After that, numbering restarts.
    private static let sharedLimit = 1024
    /// The longest string that may have a number, in bytes.
    private static let shortLength = 64
    private static let endOfText: UInt8 = 0xFC

    /// Nil for bytes without the format's header.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > 4, bytes.starts(with: Self.header) else { return nil }
        self.bytes = bytes
        self.sharesNames = bytes[3] & 1 != 0
        self.sharesStrings = bytes[3] & 2 != 0
    }

    func edits(_ redaction: inout TreeRedaction) -> [Edit]? { self.edits(&redaction, from: 4) }

    // MARK: Numbers of bytes

    /// A number with seven bits per byte, except for six in the last one, whose highest bit is set.
    private func variable(_ offset: Int) -> (value: UInt64, end: Int)? {
        var value: UInt64 = 0
        var index = offset
        while index < self.bytes.count, index - offset < 10 {
            let byte = self.bytes[index]
            index += 1
            guard byte & 0x80 == 0 else { return (value << 6 | UInt64(byte & 0x3F), index) }
            value = value << 7 | UInt64(byte)
        }
        return nil
    }

    private func count(_ offset: Int) -> (count: Int, end: Int)? {
        guard let (value, end) = self.variable(offset), value <= UInt64(self.bytes.count) else { return nil }
        return (Int(value), end)
    }

    private static func variable(_ count: Int) -> [UInt8] {
        var bytes = [UInt8(count & 0x3F) | 0x80]
        var rest = count >> 6
        while rest > 0 {
            bytes.insert(UInt8(rest & 0x7F), at: 0)
            rest >>= 7
        }
        return bytes
    }

    /// The number of bytes with seven bits for this number of bytes with eight.
    private static func coded(_ count: Int) -> Int { (count * 8 + 6) / 7 }

    private static func decoded(_ bytes: UnsafeRawBufferPointer, count: Int) -> [UInt8] {
        var content: [UInt8] = []
        var (bits, held): (UInt32, Int) = (0, 0)
        for (index, byte) in bytes.enumerated() {
            // The last byte has the remaining bits, in its lowest places.
            let width = index == bytes.count - 1 ? count * 8 - 7 * (bytes.count - 1) : 7
            bits = bits << UInt32(width) | UInt32(byte) & (1 << UInt32(width) - 1)
            held += width
            if held >= 8 {
                held -= 8
                content.append(UInt8(truncatingIfNeeded: bits >> UInt32(held)))
            }
        }
        return content
    }

    private static func encoded(_ content: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        var (bits, held): (UInt32, Int) = (0, 0)
        for byte in content {
            bits = bits << 8 | UInt32(byte)
            held += 8
            while held >= 7 {
                held -= 7
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(held)) & 0x7F)
            }
        }
        if held > 0 { bytes.append(UInt8(truncatingIfNeeded: bits & (1 << UInt32(held) - 1))) }
        return bytes
    }

    // MARK: Values

    mutating func value(at offset: Int, _ place: TreeRedaction.Place, depth: Int, _ redaction: inout TreeRedaction) -> Int? {
        guard offset < self.bytes.count, depth < TreeRedaction.depthLimit else { return nil }
        let token = self.bytes[offset]
        switch token {
        case 0x01...0x1F: return self.reference(Int(token) - 1, offset..<offset + 1, place, &redaction)
        case 0x20...0x23, 0xC0...0xDF: return offset + 1
        case 0x24, 0x25:
            guard let (value, end) = self.variable(offset + 1) else { return nil }
            if redaction.hidesNumber(place, Int(clamping: value / 2)) { self.found.append(Edit(range: offset..<end, bytes: [0xC0])) }
            return end
        case 0x26:
            guard let (count, end) = self.count(offset + 1) else { return nil }
            return self.end(end, Self.coded(count))
        case 0x28: return self.end(offset + 1, 5)
        case 0x29: return self.end(offset + 1, 10)
        case 0x2A:
            guard let (_, scale) = self.variable(offset + 1), let (count, end) = self.count(scale) else { return nil }
            return self.end(end, Self.coded(count))
        case 0x40...0x7F: return self.short(offset, Int(token) - 0x40 + 1, place, &redaction)
        case 0x80...0xBF: return self.short(offset, Int(token) - 0x80 + 2, place, &redaction)
        case 0xE0, 0xE4:
            guard let end = self.bytes[(offset + 1)...].firstIndex(of: Self.endOfText) else { return nil }
            if let new = redaction.string(self.slice(offset + 1..<end), place) {
                self.found.append(Edit(range: offset..<end + 1, bytes: Self.long(new)))
            }
            return end + 1
        case 0xE8:
            guard let (count, start) = self.count(offset + 1), let end = self.end(start, Self.coded(count)) else { return nil }
            let content = Self.decoded(self.slice(start..<end), count: count)
            if let new = content.withUnsafeBytes({ redaction.bytes($0, place) }) {
                self.found.append(Edit(range: offset + 1..<end, bytes: Self.variable(new.count) + Self.encoded(new)))
            }
            return end
        case 0xEC...0xEF:
            guard offset + 1 < self.bytes.count else { return nil }
            let index = Int(token & 3) << 8 | Int(self.bytes[offset + 1])
            return self.reference(index, offset..<offset + 2, place, &redaction)
        case 0xF8: return self.array(offset + 1, place, depth, &redaction)
        case 0xFA: return self.object(offset + 1, place, depth, &redaction)
        case 0xFD:
            guard let (count, start) = self.count(offset + 1), let end = self.end(start, count) else { return nil }
            if let new = redaction.bytes(self.slice(start..<end), place) {
                self.found.append(Edit(range: offset + 1..<end, bytes: Self.variable(new.count) + new))
            }
            return end
        // The end of the content. Another one with its own header may follow.
        case 0xFF: return offset + 1 == self.bytes.count ? offset + 1 : nil
        default: return nil
        }
    }

    /// Handles a string that occurred before, possibly as a value of another name.
    private mutating func reference(
        _ index: Int, _ range: Range<Int>, _ place: TreeRedaction.Place, _ redaction: inout TreeRedaction
    ) -> Int? {
        guard self.sharesStrings, index < self.strings.count else { return nil }
        if let new = self.strings[index].withUnsafeBytes({ redaction.string($0, place) }) {
            self.found.append(Edit(range: range, bytes: Self.long(new)))
        }
        return range.upperBound
    }

    private mutating func short(
        _ offset: Int, _ count: Int, _ place: TreeRedaction.Place, _ redaction: inout TreeRedaction
    ) -> Int? {
        guard let end = self.end(offset + 1, count) else { return nil }
        let old = self.slice(offset + 1..<end)
        let new = redaction.string(old, place)
        if let new {
            guard let bytes = Self.short(new) ?? (self.sharesStrings ? nil : Self.long(new)) else { return nil }
            self.found.append(Edit(range: offset..<end, bytes: bytes))
        }
        if self.sharesStrings, count <= Self.shortLength {
            if self.strings.count == Self.sharedLimit { self.strings = [] }
            self.strings.append(new ?? Array(old))
        }
        return end
    }

    /// Nil for a string that is too long.
    private static func short(_ string: [UInt8]) -> [UInt8]? {
        guard !string.isEmpty, string.count <= Self.shortLength else { return nil }
        if string.allSatisfy({ $0 < 128 }) { return [0x40 + UInt8(string.count - 1)] + string }
        return string.count > 1 ? [0x80 + UInt8(string.count - 2)] + string : nil
    }

    private static func long(_ string: [UInt8]) -> [UInt8] {
        [string.allSatisfy { $0 < 128 } ? 0xE0 : 0xE4] + string + [Self.endOfText]
    }

    private mutating func array(_ start: Int, _ place: TreeRedaction.Place, _ depth: Int, _ redaction: inout TreeRedaction) -> Int? {
        var offset = start
        var index = 0
        while offset < self.bytes.count {
            if self.bytes[offset] == 0xF9 { return offset + 1 }
            guard let end = self.value(at: offset, redaction.element(index, of: place), depth: depth + 1, &redaction) else { return nil }
            (offset, index) = (end, index + 1)
        }
        return nil
    }

    private mutating func object(_ start: Int, _ place: TreeRedaction.Place, _ depth: Int, _ redaction: inout TreeRedaction) -> Int? {
        var offset = start
        while offset < self.bytes.count {
            if self.bytes[offset] == 0xFB { return offset + 1 }
            guard let (name, end) = self.name(offset) else { return nil }
            let inner = name.withUnsafeBytes { redaction.place(named: $0[...], in: place) }
            guard let next = self.value(at: end, inner, depth: depth + 1, &redaction) else { return nil }
            offset = next
        }
        return nil
    }

    private mutating func name(_ offset: Int) -> (name: [UInt8], end: Int)? {
        let token = self.bytes[offset]
        let count: Int
        switch token {
        case 0x20: return ([], offset + 1)
        case 0x30...0x33:
            guard offset + 1 < self.bytes.count else { return nil }
            let index = Int(token & 3) << 8 | Int(self.bytes[offset + 1])
            return index < self.names.count ? (self.names[index], offset + 2) : nil
        case 0x34:
            guard let end = self.bytes[(offset + 1)...].firstIndex(of: Self.endOfText) else { return nil }
            return (Array(self.bytes[(offset + 1)..<end]), end + 1)
        case 0x40...0x7F:
            let index = Int(token) - 0x40
            return index < self.names.count ? (self.names[index], offset + 1) : nil
        case 0x80...0xBF: count = Int(token) - 0x80 + 1
        case 0xC0...0xF7: count = Int(token) - 0xC0 + 2
        default: return nil
        }
        guard let end = self.end(offset + 1, count) else { return nil }
        let name = Array(self.bytes[(offset + 1)..<end])
        if self.sharesNames {
            if self.names.count == Self.sharedLimit { self.names = [] }
            self.names.append(name)
        }
        return (name, end)
    }
}
