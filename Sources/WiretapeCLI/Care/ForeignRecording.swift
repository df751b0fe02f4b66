internal import CassetteImport
internal import CassetteTools

/// A recording of another tool that was given where a cassette was wanted.
enum ForeignRecording {
    private static let mark = ":1: not a cassette: "

    /// What to do with the file that a message is about; nil if it is no recording that can be imported.
    static func advice(_ message: String) -> String? {
        guard let range = message.firstRange(of: self.mark) else { return nil }
        let path = String(message[..<range.lowerBound])
        guard let found = try? CassetteImporter(ImportOptions()).examine(path), let source = found.sources.first,
            source.exchanges > 0 || source.kind == .har
        else { return nil }
        let name =
            path.hasSuffix(".json") ? String(path.dropLast(5)) + ".cassette" : path.split(separator: ".").dropLast().joined(separator: ".")
        let output = ShellWord.quoted((name.isEmpty ? path : (path.hasPrefix("/") && !name.hasPrefix("/") ? "/" : "") + name) + ".json")
        return
            "\"\(path)\" is a recording of \(source.kind.name), and not a cassette; make one of it with: wiretape import \(ShellWord.quoted(path)) -o \(output)"
    }
}
