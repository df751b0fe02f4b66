/// Compares the code in the pages with the compiled code.
enum SnippetCheck {
    /// A page's path and text.
    typealias Page = (path: String, text: String)

    /// The problems, as sentences; empty if each Swift block of each page is one region, and each region is shown.
    ///
    /// - Parameter demandsLanguages: the pages in which each fence has to name its language, so that no Swift is missed.
    static func problems(pages: [Page], regions: [SnippetRegion], demandsLanguages: (Page) -> Bool = { _ in true }) -> [String] {
        var problems: [String] = []
        var names: [String: String] = [:]
        var texts: [String: String] = [:]
        for region in regions {
            if let file = names.updateValue(region.file, forKey: region.name) {
                problems.append("the snippet \"\(region.name)\" is in \(file) and in \(region.file): give one another name")
            }
            if let other = texts.updateValue(region.name, forKey: region.text) {
                problems.append("the snippets \"\(other)\" and \"\(region.name)\" are the same: take one out")
            }
        }
        var shown: Set<String> = []
        for page in pages {
            for block in CodeBlock.all(in: page.text) {
                let place = "\(page.path):\(block.line)"
                if block.language.isEmpty, demandsLanguages(page) {
                    problems.append("\(place): the block names no language: write ```swift, ```sh, ```json or ```text")
                }
                guard block.language.lowercased().hasPrefix("swift") else { continue }
                if let name = texts[block.text] {
                    shown.insert(name)
                } else {
                    problems.append("\(place): no snippet in Tests/DocumentationTests is this block; \(Self.nearest(block, regions))")
                }
            }
        }
        for region in regions where !shown.contains(region.name) {
            problems.append("\(region.file): no page shows the snippet \"\(region.name)\"")
        }
        return problems
    }

    /// The region that was most likely meant, and its first difference.
    private static func nearest(_ block: CodeBlock, _ regions: [SnippetRegion]) -> String {
        let lines = Set(block.text.split(separator: "\n"))
        let nearest = regions.map { ($0, Set($0.text.split(separator: "\n")).intersection(lines).count) }.max { $0.1 < $1.1 }
        guard let (region, count) = nearest, count > 0 else { return "none is like it" }
        let own = block.text.split(separator: "\n", omittingEmptySubsequences: false)
        let other = region.text.split(separator: "\n", omittingEmptySubsequences: false)
        let index = zip(own, other).enumerated().first { $0.element.0 != $0.element.1 }?.offset ?? min(own.count, other.count)
        let line = index < other.count ? "\"\(other[index])\"" : "at its end"
        return "\"\(region.name)\" in \(region.file) has \(line) where the block has line \(index + 1)"
    }
}
