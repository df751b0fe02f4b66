/// Makes untrusted text safe to show on one line of a terminal, a log or a page.
package enum PlainText {
    /// Escapes control characters, line separators, characters that change the direction of text, quotes and backslashes. Text longer than
    /// `limit` UTF-8 bytes is truncated and ends in `…`.
    package static func escape(_ bytes: some Collection<UInt8>, limit: Int) -> String {
        // Not generic: most texts are plain, and other modules call this for a hundred thousand of them.
        if bytes.count <= limit, let text = bytes.withContiguousStorageIfAvailable({ Self.plain($0) }) ?? nil { return text }
        // An escape is at least as long as its character, so nothing after this many bytes can be shown.
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

    /// The same for a sentence of our own that quotes such text: quotes and backslashes stay.
    package static func sentence(_ text: String, limit: Int) -> String {
        self.escape(text.utf8, limit: limit).replacing("\\\"", with: "\"").replacing("\\\\", with: "\\")
    }

    /// The text of bytes that need no escapes; nil if one does.
    private static func plain(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        bytes.allSatisfy { self.isPlain($0) } ? String(decoding: bytes, as: UTF8.self) : nil
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

/// Escapes text for XML 1.0.
package enum XMLText {
    /// Escapes markup, quotes and white space other than spaces. Characters that XML cannot contain become U+FFFD.
    package static func escape(_ text: String) -> String {
        var escaped = ""
        escaped.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\t", "\n", "\r": escaped += "&#\(scalar.value);"
            default: escaped.unicodeScalars.append(Self.isAllowed(scalar) ? scalar : "\u{FFFD}")
            }
        }
        return escaped
    }

    /// XML 1.0, 2.2: Char, without the characters that the section discourages.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value) && !(0xFDD0...0xFDEF).contains(scalar.value)
            && scalar.value & 0xFFFE != 0xFFFE
    }
}
