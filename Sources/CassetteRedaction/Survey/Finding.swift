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

    /// The whole number that contains a range, if JSON would allow a value there; nil if the range is part of something else.
    static func around(_ range: Range<Int>, in text: UnsafeRawBufferPointer) -> Range<Int>? {
        guard range.allSatisfy({ self.mayHold(text[$0]) }) else { return nil }
        var (start, end) = (range.lowerBound, range.upperBound)
        while start > 0, range.lowerBound - start < 64, self.mayHold(text[start - 1]) { start -= 1 }
        while end < text.count, end - range.upperBound < 64, self.mayHold(text[end]) { end += 1 }
        var before = start
        while before > 0, start - before < 64, text[before - 1] <= 32 { before -= 1 }
        var behind = end
        while behind < text.count, behind - end < 64, text[behind] <= 32 { behind += 1 }
        let opens: Set<UInt8> = [UInt8(ascii: ":"), UInt8(ascii: ","), UInt8(ascii: "[")]
        let closes: Set<UInt8> = [UInt8(ascii: "}"), UInt8(ascii: ","), UInt8(ascii: "]")]
        let begins = before == 0 ? start == 0 && end == text.count : opens.contains(text[before - 1])
        let ends = behind == text.count ? start == 0 && before == 0 : closes.contains(text[behind])
        return begins && ends ? start..<end : nil
    }
}
