/// A fenced block of a page in Markdown (CommonMark, 4.5).
struct CodeBlock: Equatable {
    /// The text after the opening fence; empty if there is none.
    var language: String
    /// Without the common indentation, and without trailing white space.
    var text: String
    /// The line of the opening fence, from 1.
    var line: Int
}

extension CodeBlock {
    /// In the order of the page. A fence that is never closed continues to the end of the page.
    static func all(in page: String) -> [CodeBlock] {
        var blocks: [CodeBlock] = []
        var open: (language: String, line: Int, lines: [Substring])?
        for (index, line) in page.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let trimmed = line.trimmingPrefix { $0 == " " }
            if let begun = open {
                if trimmed.hasPrefix("```") {
                    blocks.append(CodeBlock(language: begun.language, text: Dedented.text(begun.lines), line: begun.line))
                    open = nil
                } else {
                    open?.lines.append(line)
                }
            } else if trimmed.hasPrefix("```") {
                open = (String(trimmed.drop { $0 == "`" }), index + 1, [])
            }
        }
        if let open { blocks.append(CodeBlock(language: open.language, text: Dedented.text(open.lines), line: open.line)) }
        return blocks
    }
}
