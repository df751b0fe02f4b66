/// The width of a text in terminal columns: two for Hangul, Han, Kana and emoji, none for combining marks.
///
/// Works on scalars, as wcwidth(3) and most terminals do. Expects text without control characters.
enum TextWidth {
    static func columns(_ text: some StringProtocol) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.unicodeScalars.reduce(0) { $0 + self.columns($1) }
    }

    static func columns(_ scalar: Unicode.Scalar) -> Int {
        let value = scalar.value
        if value < 0x300 { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        switch value {
        // Hangul vowels and finals join the consonant before them.
        case 0x1160...0x11FF, 0xD7B0...0xD7FF: return 0
        // Each half of a flag.
        case 0x1F1E6...0x1F1FF: return 1
        default: return self.isWide(value) || scalar.properties.isEmojiPresentation ? 2 : 1
        }
    }

    /// East Asian Width W and F (UAX 11), in blocks; emoji have a property of their own.
    private static func isWide(_ value: UInt32) -> Bool {
        switch value {
        case 0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
            0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18D08, 0x1AFF0...0x1B2FB,
            0x1F200...0x1F265, 0x20000...0x3FFFD:
            true
        default: false
        }
    }

    /// The text with its middle replaced by `…` if it is wider than `limit`, because the host and the last component of a URL matter most.
    static func shortened(_ text: String, to limit: Int) -> String {
        guard self.columns(text) > limit else { return text }
        guard limit > 1 else { return limit == 1 ? "…" : "" }
        let head = self.prefix(text, columns: limit / 2)
        let tail = self.prefix(text.reversed(), columns: limit - 1 - limit / 2)
        return String(head) + "…" + String(tail.reversed())
    }

    private static func prefix(_ text: some Sequence<Character>, columns limit: Int) -> [Character] {
        var taken: [Character] = []
        var columns = 0
        for character in text {
            columns += self.columns(String(character))
            guard columns <= limit else { break }
            taken.append(character)
        }
        return taken
    }

    /// The text in lines of at most `limit` columns, broken at spaces; a longer word overflows.
    static func wrapped(_ text: String, to limit: Int) -> [String] {
        var lines: [String] = []
        var width = 0
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            let columns = self.columns(word)
            if !lines.isEmpty, width + 1 + columns <= limit {
                lines[lines.count - 1] += " \(word)"
                width += 1 + columns
            } else {
                lines.append(String(word))
                width = columns
            }
        }
        return lines
    }

    enum Side { case left, right }

    /// The text with spaces up to `width` columns.
    static func padded(_ text: String, to width: Int, _ side: Side = .left) -> String {
        let blanks = String(repeating: " ", count: max(0, width - self.columns(text)))
        return side == .left ? text + blanks : blanks + text
    }
}
