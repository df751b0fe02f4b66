/// Puts the options that most people need before the others in a help text.
///
/// swift-argument-parser prints groups with a title first. The groups without a title, which here are the options that most people need,
/// come last.
enum HelpOrder {
    /// The text with the section "OPTIONS" right after the arguments; as it is if it has no such section.
    static func common(first text: String) -> String {
        // Sections are separated by empty lines, and begin with a title in capitals at the start of a line.
        var sections = text.split(separator: "\n\n", omittingEmptySubsequences: false).map(String.init)
        guard let options = sections.firstIndex(where: { $0.hasPrefix("OPTIONS:\n") }),
            let usage = sections.firstIndex(where: { $0.hasPrefix("USAGE: ") })
        else { return text }
        let place = sections.firstIndex { $0.hasPrefix("ARGUMENTS:\n") }.map { $0 + 1 } ?? usage + 1
        guard place < options else { return text }
        sections.insert(sections.remove(at: options), at: place)
        return sections.joined(separator: "\n\n")
    }
}
