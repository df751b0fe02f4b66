internal import CassetteModel
internal import Foundation
internal import TapeBytes

/// A multipart form as `-F` arguments of curl, which chooses a boundary of its own.
///
/// Text is passed as it is, and files by their paths. Parts that curl has no argument for (other header fields, bytes in memory with a file
/// name, streams) either make the whole form nil, or have to be saved as files first.
struct CurlForm: Sendable, Hashable {
    let arguments: [String]
    let notes: [String]

    /// - Parameters:
    ///   - text: the bytes to show for the text field with that index.
    ///   - savesRest: whether the reader is to save parts that curl has no argument for; if false, such a part makes the form nil.
    init?(_ form: FormData, text: (Int) -> [UInt8]?, savesRest: Bool) {
        var arguments: [String] = []
        var notes: [String] = []
        for (index, part) in form.parts.enumerated() {
            let disposition = ContentDisposition(part.headers)
            let name = disposition?.name.flatMap { $0.contains("=") || !ShellText.isPlain($0) || $0.contains("\n") ? nil : $0 }
            if let name, let argument = Self.argument(part, name, disposition?.filename, text(index)) {
                arguments.append(argument)
                continue
            }
            guard savesRest else { return nil }
            let place = "part-\(index + 1)"
            notes.append("part \(index + 1) of the form has \(part.source.length) bytes: save them as \"\(place)\"")
            let file = disposition?.filename.map { ";filename=\(Self.inQuotes($0))" } ?? ""
            arguments.append("-F \(ShellText.quoted("\(name ?? place)=@\"\(place)\"\(file)"))")
        }
        self.arguments = arguments
        self.notes = notes
    }

    /// Nil if curl has no argument for such a part.
    private static func argument(_ part: FormData.Part, _ name: String, _ filename: String?, _ text: [UInt8]?) -> String? {
        switch (part.source, filename) {
        case (.bytes, nil):
            guard part.headers.count == 1, let text, let value = String(validUTF8: text), ShellText.isPlain(value) else {
                return nil
            }
            return "--form-string \(ShellText.quoted("\(name)=\(value)"))"
        case (.file(let file), let filename?):
            guard part.headers.count == 2, let type = part.headers.first("content-type"),
                type.utf8.allSatisfy({ HTTPSession.Headers.isTokenCharacter($0) || $0 == UInt8(ascii: "/") }),
                ShellText.isPlain(filename + file.path)
            else { return nil }
            return "-F \(ShellText.quoted("\(name)=@\(self.inQuotes(file.path));filename=\(self.inQuotes(filename));type=\(type)"))"
        case (.bytes, _), (.file, _), (.stream, _): return nil
        }
    }

    /// Quoted for curl's form arguments.
    private static func inQuotes(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}

/// A body as arguments of curl, and the command to pipe into it.
struct CurlBody: Sendable, Hashable {
    /// Linux limits one argument to 128 KiB; the output of a shell's builtins has no limit.
    private static let argumentLimit = 100_000

    /// A command whose output curl reads; nil if it reads none.
    let source: String?
    let arguments: [String]

    /// A body that curl reads from a file.
    init(path: String) {
        self.source = nil
        self.arguments = ["--data-binary \(ShellText.quoted("@" + path))"]
    }

    init(_ bytes: [UInt8]) {
        guard let text = String(validUTF8: bytes) else {
            self.source = "printf '%s' '\(Data(bytes).base64EncodedString())' | base64 -d"
            self.arguments = ["--data-binary @-"]
            return
        }
        guard ShellText.isPlain(text), bytes.count <= Self.argumentLimit else {
            self.source = ShellText.printing(text)
            self.arguments = ["--data-binary @-"]
            return
        }
        self.source = nil
        // `--data-raw` does not read "@" at the start as a file name.
        self.arguments = ["--data-raw \(ShellText.quoted(text))"]
    }
}

/// Quoting for POSIX shells: sh, bash, dash, zsh, ksh.
enum ShellText {
    /// One word in single quotes, in which no character is special.
    static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: #"'\''"#) + "'" }

    /// A command that prints exactly the bytes of the text. It uses `%s`, or escapes if the text has control characters, which cannot be
    /// pasted into a terminal.
    static func printing(_ text: String) -> String {
        guard !self.isPlain(text) else { return "printf '%s' \(self.quoted(text))" }
        var format: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): format += [byte, byte]
            case UInt8(ascii: "%"): format += [byte, byte]
            case 10: format += Array("\\n".utf8)
            // At the start, a hyphen would begin an option.
            case UInt8(ascii: "-") where format.isEmpty: format += Array(self.octal(byte).utf8)
            case 0..<32, 127: format += Array(self.octal(byte).utf8)
            default: format.append(byte)
            }
        }
        return "printf \(self.quoted(String(decoding: format, as: UTF8.self)))"
    }

    /// Whether the text can be pasted into a terminal unchanged: line feeds are the only control characters.
    static func isPlain(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 32 && $0 != 127 || $0 == 10 } }

    /// Three digits, so that a digit after them is not read as a fourth.
    private static func octal(_ byte: UInt8) -> String { "\\" + String(byte / 64) + String(byte / 8 % 8) + String(byte % 8) }
}
