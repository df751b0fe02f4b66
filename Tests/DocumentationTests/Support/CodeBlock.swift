/// A fenced block of a page in Markdown (CommonMark, 4.5).
struct CodeBlock: Equatable {
    /// What stands behind the opening fence; empty where nothing does.
    var language: String
    /// Without the indentation that all lines have, and without blanks at their ends.
    var text: String
    /// Of the opening fence, from 1.
    var line: Int
}

extension CodeBlock {
    /// In the order of the page. A fence that nothing closes goes on to the page's end.
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
