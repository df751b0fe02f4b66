internal import TapeBytes

/// A secret found in a text, by its place or its looks.
package struct Finding: Sendable, Hashable {
    package enum Spelling: Sendable, Hashable {
        /// As it stands.
        case plain
        /// In a JSON string.
        case json
        /// A number of JSON, which a number takes the place of.
        case number
        /// In a URL's query.
        case query
        /// In a form.
        case form
        /// In front of a URL's host, where colons have a meaning.
        case user
    }

    var kind: String
    /// In the text.
    var range: Range<Int>
    /// Without the escapes of its spelling.
    var secret: [UInt8]
    var spelling: Spelling
    var isSure = true
    /// Not looked for elsewhere, whatever it looks like: it may be a word of a program.
    var isPlaceOnly = false
    /// Further spellings to search for.
    var pieces: [[UInt8]] = []
}

extension Finding.Spelling {
    /// The bytes that a value stands for; nil where it is not of this spelling.
    package func decode(_ value: UnsafeRawBufferPointer) -> [UInt8]? {
        switch self {
        case .plain, .number: Array(value)
        case .json: value.contains(UInt8(ascii: "\\")) ? JSONStringDecoder.decode(Array(value)[...]) ?? Array(value) : Array(value)
        case .query, .user: Self.unescaped(value, plusIsSpace: false)
        case .form: Self.unescaped(value, plusIsSpace: true)
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
