internal import TapeBytes

/// A secret found in a text, by its place or its shape.
package struct Finding: Sendable, Hashable {
    package enum Spelling: Sendable, Hashable {
        /// Literal.
        case plain
        /// In a JSON string.
        case json
        /// A JSON number, which is replaced by a number.
        case number
        /// In a URL's query.
        case query
        /// In a form.
        case form
        /// In the user information before a URL's host, where colons have a meaning.
        case user
        /// In XML or HTML, with entities.
        case markup
        /// In base64, with or without line ends.
        case base64
    }

    var kind: String
    /// The range in the text.
    var range: Range<Int>
    /// The secret, decoded from its spelling.
    var secret: [UInt8]
    var spelling: Spelling
    var isSure = true
    /// Whether a user's rule refers to the place.
    var isRuled = false
    /// Whether it is not searched for elsewhere, whatever it looks like, since it may be a word of a program.
    var isPlaceOnly = false
    /// Decimal digits elsewhere in the text that give the length of the value in bytes.
    var count: Range<Int>?
    /// The cookie whose value it is.
    var cookie: Cookie?
    /// Further spellings to search for.
    var pieces: [[UInt8]] = []
    /// The password in the credentials of `Basic`, which is a secret of its own (RFC 7617, 2).
    var password: [UInt8]?
}

extension Finding {
    /// A cookie whose value may be a secret.
    struct Cookie: Sendable, Hashable {
        var name: [UInt8]
        /// Whether it is hidden from scripts.
        var isHidden: Bool
        /// Whether its name and value are those of a preference, provided that scripts can read it.
        var isPreference: Bool
    }
}

extension Finding.Spelling {
    /// The decoded value; nil if it is not in this spelling.
    package func decode(_ value: UnsafeRawBufferPointer) -> [UInt8]? {
        switch self {
        case .plain, .number: Array(value)
        case .json: value.contains(UInt8(ascii: "\\")) ? JSONStringDecoder.decode(Array(value)[...]) ?? Array(value) : Array(value)
        case .markup: EscapeView(entitiesOf: value)?.bytes ?? Array(value)
        case .query, .user: Self.unescaped(value, plusIsSpace: false)
        case .form: Self.unescaped(value, plusIsSpace: true)
        case .base64: Base64.decode(value.filter { $0 > 32 })
        }
    }

    private static func unescaped(_ value: UnsafeRawBufferPointer, plusIsSpace: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(value.count)
        var index = 0
        while index < value.count {
            if value[index] == UInt8(ascii: "%"), value.count - index > 2, let high = Hex.value(value[index + 1]),
                let low = Hex.value(value[index + 2])
            {
                bytes.append(high << 4 | low)
                index += 3
            } else {
                bytes.append(plusIsSpace && value[index] == UInt8(ascii: "+") ? 32 : value[index])
                index += 1
            }
        }
        return bytes
    }
}

/// The kind of a text, which decides how placeholders in it are spelled.
enum TextKind: Sendable, Hashable {
    case plain
    /// Header fields, whose names the caller interprets.
    case fields
    /// application/x-www-form-urlencoded
    case form
    /// A single URL.
    case url
    /// Bytes whose length must not change, since something around them may depend on it.
    case binary
    /// Bytes whose length is stored next to them and is updated: a field of a message.
    case field

    /// Whether apparent escapes in it are coincidences.
    var isBinary: Bool { self == .binary || self == .field }
}

/// Finds a JSON number in a text (RFC 8259, 6), without a parser.
enum JSONNumberText {
    @inline(__always)
    static func mayHold(_ byte: UInt8) -> Bool {
        byte >= 48 && byte <= 57 || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
            || byte | 32 == UInt8(ascii: "e")
    }

    /// From the first bracket or brace of a text to its last; empty if it has none. JSON lies within.
    static func bounds(of text: UnsafeRawBufferPointer) -> Range<Int> {
        guard let first = text.firstIndex(where: { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") }),
            let last = text.lastIndex(where: { $0 == UInt8(ascii: "}") || $0 == UInt8(ascii: "]") }), first < last
        else { return 0..<0 }
        return first..<last
    }

    /// The whole number that contains a range, if JSON would allow a value there; nil if the range is part of something else.
    ///
    /// - Parameters:
    ///   - bounds: see `bounds(of:)`. Outside of them, commas separate the columns of a table.
    ///   - isJSON: whether the text is declared as JSON, and may therefore be a number as a whole.
    static func around(
        _ range: Range<Int>, in text: UnsafeRawBufferPointer, bounds: Range<Int>, isJSON: Bool = false
    ) -> Range<Int>? {
        guard range.allSatisfy({ self.mayHold(text[$0]) }) else { return nil }
        var (start, end) = (range.lowerBound, range.upperBound)
        while start > 0, range.lowerBound - start < 64, self.mayHold(text[start - 1]) { start -= 1 }
        while end < text.count, end - range.upperBound < 64, self.mayHold(text[end]) { end += 1 }
        guard self.isNumber(text[start..<end]) else { return nil }
        if isJSON, bounds.isEmpty, self.isBlank(text[..<start]), self.isBlank(text[end...]) { return start..<end }
        guard bounds.lowerBound < start, bounds.upperBound >= end, let before = text[max(0, start - 64)..<start].last(where: { $0 > 32 }),
            ":,[".utf8.contains(before), let behind = text[end..<min(text.count, end + 64)].first(where: { $0 > 32 }),
            "},]".utf8.contains(behind)
        else { return nil }
        return start..<end
    }

    private static func isBlank(_ text: Slice<UnsafeRawBufferPointer>) -> Bool { text.allSatisfy { $0 <= 32 } }

    /// A UUID or a date may also consist of the characters of numbers.
    private static func isNumber(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
        var rest = text[...]
        func digits() -> Bool {
            let count = rest.prefix { $0 >= 48 && $0 <= 57 }.count
            rest = rest.dropFirst(count)
            return count > 0
        }
        if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        guard digits() else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            guard digits() else { return false }
        }
        if rest.first.map({ $0 | 32 == UInt8(ascii: "e") }) == true {
            rest = rest.dropFirst()
            if let sign = rest.first, "+-".utf8.contains(sign) { rest = rest.dropFirst() }
            guard digits() else { return false }
        }
        return rest.isEmpty
    }
}
