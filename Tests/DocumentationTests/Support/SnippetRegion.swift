/// Lines of a source file that a page shows: those between `// snippet: NAME` and `// snippet end`.
struct SnippetRegion: Equatable {
    var name: String
    /// Without the common indentation, and without trailing white space.
    var text: String
    var file: String
}

extension SnippetRegion {
    static let opening = "// snippet: "
    static let closing = "// snippet end"

    /// - Throws: `SnippetProblem` for a nested region, a region without an end, and an end without a region.
    static func all(in source: String, file: String) throws -> [SnippetRegion] {
        var regions: [SnippetRegion] = []
        var open: (name: String, lines: [Substring])?
        for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
            let trimmed = line.trimmingPrefix { $0 == " " }
            if trimmed == Self.closing {
                guard let begun = open else { throw SnippetProblem("\(file): a snippet ends that has not begun") }
                regions.append(SnippetRegion(name: begun.name, text: Dedented.text(begun.lines), file: file))
                open = nil
            } else if trimmed.hasPrefix(Self.opening) {
                if let begun = open { throw SnippetProblem("\(file): the snippet \"\(begun.name)\" has another in it") }
                open = (String(trimmed.dropFirst(Self.opening.count)), [])
            } else {
                open?.lines.append(line)
            }
        }
        if let open { throw SnippetProblem("\(file): the snippet \"\(open.name)\" does not end") }
        return regions
    }
}
