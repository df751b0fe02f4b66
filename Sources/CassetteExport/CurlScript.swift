package import CassetteModel
internal import CassetteStore
package import CassetteTools

/// Writes curl commands for a shell that send requests again.
///
/// For PowerShell, the options are passed on standard input, because its versions quote program arguments in different ways.
package struct CurlScript: ExchangeWriter {
    private let target: ExportTarget
    private let shell: ExportShell
    /// The folder for files that the commands send; nil to explain how to get the files.
    private let folder: ExtractFolder?
    package private(set) var notes: [String] = []
    /// How many commands send files that were not written.
    private var incomplete = 0

    package init(_ target: ExportTarget, _ shell: ExportShell, files folder: ExtractFolder? = nil) {
        self.target = target
        self.shell = shell
        self.folder = folder
    }

    package mutating func begin() throws {
        guard self.shell == .powershell else { return }
        // Windows PowerShell pipes text as ASCII, and defines curl as an alias of Invoke-WebRequest.
        try self.target.write(
            """
            $OutputEncoding = New-Object System.Text.UTF8Encoding $false
            $curl = if ($env:OS -eq 'Windows_NT') { 'curl.exe' } else { 'curl' }


            """)
    }

    package mutating func end() throws {
        guard self.incomplete > 0 else { return }
        let commands = self.incomplete == 1 ? "1 command sends" : "\(self.incomplete) commands send"
        self.notes.append("\(commands) files that were not written, so curl would send an empty body: add --files FOLDER to write them.")
    }

    package mutating func append(_ interaction: Interaction, number: Int) throws {
        try self.target.write("# exchange \(number)\n")
        let command: CurlCommand
        do {
            command = try CurlCommand(
                interaction, number: number, folder: self.folder?.path ?? "wiretape-\(number)", reader: self.target.reader)
        } catch let error as InspectError {
            return try self.target.write("# \(VisibleText.line(error.message))\n\n")
        }
        if let folder {
            for file in command.files where try file.contents.write(to: file.name, in: folder, reader: self.target.reader) {
                self.notes.append(
                    "the request body of exchange \(number) was edited after it was recorded: \"\(folder.path)/\(file.name)\" does not hold what was received."
                )
            }
        } else if !command.files.isEmpty {
            self.incomplete += 1
            let path = VisibleText.line(ShellWord.quoted(self.target.path))
            try self.target.write("# the files it sends: wiretape show \(path) \(number) --curl --files wiretape-\(number) > /dev/null\n")
        }
        for note in command.notes { try self.target.write("# \(VisibleText.line(note))\n") }
        try self.target.write(Self.text(command, self.shell) + "\n")
    }

    static func text(_ command: CurlCommand, _ shell: ExportShell) -> String {
        let words = [["curl", command.url]] + command.words
        switch shell {
        case .bash: return words.map { $0.map(ShellWord.quoted).joined(separator: " ") }.joined(separator: " \\\n  ") + "\n"
        case .fish: return words.map { $0.map(self.fish).joined(separator: " ") }.joined(separator: " \\\n  ") + "\n"
        case .powershell:
            let text = ([["--url", command.url]] + command.words).map(self.line).joined(separator: "\n")
            let runs = ShellWord.runs(text)
            return (runs.count == 1 ? "@'\n\(text)\n'@" : "@\"\n\(self.expandable(runs))\n\"@") + " | & $curl --config -\n"
        }
    }

    /// The content of a here-string in which PowerShell generates the hidden characters.
    private static func expandable(_ runs: [String]) -> String {
        runs.enumerated().map { place, run in
            guard place % 2 == 1 else {
                return String(
                    run.unicodeScalars.reduce(into: String.UnicodeScalarView()) { text, scalar in
                        if scalar == "$" || scalar == "`" { text.append("`") }
                        text.append(scalar)
                    })
            }
            return run.unicodeScalars.map { "$([char]::ConvertFromUtf32(0x\(String($0.value, radix: 16))))" }.joined()
        }.joined()
    }

    /// Quotes with single quotes, within which a backslash still escapes a quote and itself.
    private static func fish(_ word: String) -> String {
        let runs = ShellWord.runs(word)
        return runs.indices.map { place in
            guard place % 2 == 1 else { return runs[place].isEmpty && runs.count > 1 ? "" : self.fishVisible(runs[place]) }
            return runs[place].unicodeScalars.map { scalar in
                let digits = String(scalar.value, radix: 16)
                return scalar.value > 0xFFFF
                    ? "\\U\(String(repeating: "0", count: 8 - digits.count))\(digits)"
                    : "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)"
            }.joined()
        }.joined()
    }

    private static func fishVisible(_ word: String) -> String {
        guard ShellWord.quoted(word) != word || word.contains("\\") else { return word }
        var quoted = Array("'".utf8)
        for byte in word.utf8 {
            if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\\") { quoted.append(UInt8(ascii: "\\")) }
            quoted.append(byte)
        }
        return String(decoding: quoted, as: UTF8.self) + "'"
    }

    /// A line of a curl configuration.
    private static func line(_ words: [String]) -> String {
        let names = ["-H": "header", "-X": "request", "-F": "form"]
        let name = words.first.map { names[$0] ?? String($0.drop { $0 == "-" }) } ?? ""
        guard words.count > 1 else { return name }
        var value: [UInt8] = []
        for byte in words[1].utf8 {
            switch byte {
            case UInt8(ascii: "\\"): value += Array("\\\\".utf8)
            case UInt8(ascii: "\""): value += Array("\\\"".utf8)
            case 10: value += Array("\\n".utf8)
            case 13: value += Array("\\r".utf8)
            case 9: value += Array("\\t".utf8)
            default: value.append(byte)
            }
        }
        return "\(name) = \"\(String(decoding: value, as: UTF8.self))\""
    }
}
