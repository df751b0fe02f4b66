internal import TapeBytes

/// Recorded text made safe for a terminal. Characters that would move the cursor, change the screen, hide text or change its direction are
/// escaped as `\u{1b}`.
///
/// Takes text in pieces, so that bodies of any size can be shown. Does not truncate or wrap.
package struct VisibleText {
    package enum Form {
        /// For a single line: line ends and tabs are escaped, too.
        case line
        /// Keeps line feeds and tabs. Drops the carriage return of a CR LF.
        case lines
        /// Like `lines`, for a reader that sees more than a person does: joiners and variation selectors are escaped, too. They can spell text.
        case exact
        /// For JSON: escaped as in JSON, so that the value stays the same. Drops white space other than spaces, tabs and line feeds.
        case json
        /// For XML without CDATA sections: uses character references, so that the value stays the same. Does not change ASCII.
        case xml
    }

    /// Whether anything was escaped.
    package private(set) var hasEscaped = false
    private let form: Form
    /// An incomplete character or CR LF at the end of the last piece.
    private var rest: [UInt8] = []

    package init(_ form: Form) {
        self.form = form
    }

    /// Bytes that are not UTF-8 are shown as `\xe9`.
    package static func line(_ bytes: some Collection<UInt8>) -> String {
        let bytes = Array(bytes)
        if bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) || UTF8Validator.isValid(bytes) {
            return self.whole(bytes, .line)
        }
        var ascii: [UInt8] = []
        for byte in bytes {
            if byte < 0x80 { ascii.append(byte) } else { ascii.append(contentsOf: "\\x\(String(byte, radix: 16))".utf8) }
        }
        return self.whole(ascii, .line)
    }

    package static func line(_ text: String) -> String { self.whole(Array(text.utf8), .line) }

    package static func whole(_ bytes: [UInt8], _ form: Form) -> String {
        var text = VisibleText(form)
        return bytes.withUnsafeBytes { text.push($0, isLast: true) }
    }

    /// Whether a non-ASCII character is escaped in a line: a C1 control character, a direction control, or an invisible one.
    package static func isHidden(_ scalar: Unicode.Scalar) -> Bool { scalar.value >= 0x80 && !VisibleText(.line).isHarmless(scalar) }

    /// A sink that passes on JSON text in `Form.json`. The text may come in any pieces; its last byte must be ASCII, as in any JSON
    /// document.
    package static func json(
        to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) -> (UnsafeRawBufferPointer) throws -> Void {
        var text = VisibleText(.json)
        return { piece in
            var shown = text.push(piece)
            try shown.withUTF8 { try sink(UnsafeRawBufferPointer($0)) }
        }
    }

    // MARK: In pieces

    package mutating func push(_ piece: UnsafeRawBufferPointer, isLast: Bool = false) -> String {
        guard !self.rest.isEmpty else { return self.take(piece, isLast: isLast) }
        let joined = self.rest + piece
        self.rest = []
        return joined.withUnsafeBytes { self.take($0, isLast: isLast) }
    }

    private mutating func take(_ bytes: UnsafeRawBufferPointer, isLast: Bool) -> String {
        let end = isLast ? bytes.count : Self.wholeCharacters(bytes)
        self.rest = Array(bytes[end...])
        var shown: [UInt8] = []
        shown.reserveCapacity(end)
        var offset = 0
        while offset < end {
            let start = offset
            while offset < end, self.isPlain(bytes[offset]) { offset += 1 }
            shown.append(contentsOf: bytes[start..<offset])
            guard offset < end else { break }
            if bytes[offset] < 0x80 {
                if !self.isDropped(bytes, offset, end) { self.escape(Unicode.Scalar(bytes[offset]), into: &shown) }
                offset += 1
                continue
            }
            let first = offset
            while offset < end, bytes[offset] >= 0x80 { offset += 1 }
            for scalar in String(decoding: bytes[first..<offset], as: UTF8.self).unicodeScalars {
                if self.isHarmless(scalar) {
                    shown.append(contentsOf: String(scalar).utf8)
                } else {
                    self.escape(scalar, into: &shown)
                }
            }
        }
        return String(decoding: shown, as: UTF8.self)
    }

    private func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x7F || self.form != .line && (byte == 10 || byte == 9) || self.form == .xml && byte < 0x80
    }

    /// Whether this is a carriage return without meaning: before a line feed, or as white space in JSON.
    private func isDropped(_ bytes: UnsafeRawBufferPointer, _ offset: Int, _ end: Int) -> Bool {
        guard bytes[offset] == 13 else { return false }
        return switch self.form {
        case .line, .xml: false
        case .lines, .exact: offset + 1 < end && bytes[offset + 1] == 10
        case .json: true
        }
    }

    private func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        // Joiners are part of Persian words and of emoji.
        case .format: self.keepsEmoji && (scalar.value == 0x200C || scalar.value == 0x200D)
        case .control, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
        // Some letters and marks are invisible, such as the fillers of Hangul. Two variation selectors choose the form of an emoji.
        default: !scalar.properties.isDefaultIgnorableCodePoint || self.keepsEmoji && (scalar.value == 0xFE0E || scalar.value == 0xFE0F)
        }
    }

    private var keepsEmoji: Bool {
        switch self.form {
        case .line, .exact: false
        case .lines, .json, .xml: true
        }
    }

    private mutating func escape(_ scalar: Unicode.Scalar, into shown: inout [UInt8]) {
        self.hasEscaped = true
        if self.form == .xml { return shown.append(contentsOf: "&#x\(String(scalar.value, radix: 16));".utf8) }
        guard self.form == .json else {
            switch scalar {
            case "\n": shown.append(contentsOf: "\\n".utf8)
            case "\r": shown.append(contentsOf: "\\r".utf8)
            case "\t": shown.append(contentsOf: "\\t".utf8)
            default: shown.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".utf8)
            }
            return
        }
        for unit in String(scalar).utf16 {
            let digits = String(unit, radix: 16)
            shown.append(contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
        }
    }

    /// How many bytes to take without splitting a character or a CR LF.
    private static func wholeCharacters(_ bytes: UnsafeRawBufferPointer) -> Int {
        let count = bytes.count
        if bytes.last == 13 { return count - 1 }
        for length in 1...3 where length <= count {
            let byte = bytes[count - length]
            if byte < 0x80 { break }
            guard byte >= 0xC0 else { continue }
            let needed = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
            return length < needed ? count - length : count
        }
        return count
    }
}
