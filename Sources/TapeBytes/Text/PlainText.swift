/// Makes text of a request fit to be shown: in a terminal, a log or a page, on one line.
package enum PlainText {
    /// Escapes controls, line separators, characters that turn the direction of text, quotes and backslashes. Text of more than
    /// `limit` octets of UTF-8 is cut and ends in `…`.
    package static func escape(_ bytes: some Collection<UInt8>, limit: Int) -> String {
        if bytes.count <= limit, bytes.allSatisfy({ Self.isPlain($0) }) { return String(decoding: bytes, as: UTF8.self) }
        // A character's escape is no shorter than the character, so nothing behind this many octets can be shown.
        let source = String(decoding: bytes.prefix(limit + 4), as: UTF8.self)
        var text = ""
        var count = 0
        for scalar in source.unicodeScalars {
            let shown = Self.escape(scalar)
            count += shown.utf8.count
            guard count <= limit else { return text + "…" }
            text += shown
        }
        return text
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\"": "\\\""
        case "\\": "\\\\"
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        default: Self.isHarmless(scalar) ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
        }
    }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value >= 0x20 && scalar.value != 0x7F }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: return false
        default: return true
        }
    }
}
