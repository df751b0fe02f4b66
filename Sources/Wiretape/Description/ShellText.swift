/// Words of a POSIX shell: sh, bash, dash, zsh, ksh.
enum ShellText {
    /// One word, in single quotes, within which nothing has a meaning.
    static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: #"'\''"#) + "'" }

    /// A command that writes the text octet by octet: by `%s`, or with escapes where the text has control characters, which no terminal
    /// takes as they are.
    static func printing(_ text: String) -> String {
        guard !self.isPlain(text) else { return "printf '%s' \(self.quoted(text))" }
        var format: [UInt8] = []
        for octet in text.utf8 {
            switch octet {
            case UInt8(ascii: "\\"): format += [octet, octet]
            case UInt8(ascii: "%"): format += [octet, octet]
            case 10: format += Array("\\n".utf8)
            // In front it would begin an option.
            case UInt8(ascii: "-") where format.isEmpty: format += Array(self.octal(octet).utf8)
            case 0..<32, 127: format += Array(self.octal(octet).utf8)
            default: format.append(octet)
            }
        }
        return "printf \(self.quoted(String(decoding: format, as: UTF8.self)))"
    }

    /// Whether a terminal takes the text as it is: line feeds are the only control characters.
    static func isPlain(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 32 && $0 != 127 || $0 == 10 } }

    /// Three digits, so that no digit behind them is taken for one more.
    private static func octal(_ octet: UInt8) -> String { "\\" + String(octet / 64) + String(octet / 8 % 8) + String(octet % 8) }
}
