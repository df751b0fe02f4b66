internal import TapeBytes

extension RuleNode {
    /// The value as YAML that reads as the same value, but for its lines: a list or members in blocks, and what is in them on one line each.
    ///
    /// Ends with a line end.
    ///
    /// - Parameter indent: spaces before each line.
    package func yaml(indent: Int = 0) -> String {
        let margin = String(repeating: " ", count: indent)
        switch self.content {
        case .list(let rules) where !rules.isEmpty:
            return rules.map { rule in
                guard case .members(let members) = rule.content, !members.isEmpty else { return "\(margin)- \(rule.flow)\n" }
                return members.enumerated().map { index, member in
                    "\(margin)\(index == 0 ? "- " : "  ")\(Self.quoted(member.name, isString: false)): \(member.value.flow)\n"
                }.joined()
            }.joined()
        case .members(let members) where !members.isEmpty:
            return members.map { "\(margin)\(Self.quoted($0.name, isString: false)): \($0.value.flow)\n" }.joined()
        case .nothing, .text, .list, .members: return "\(margin)\(self.flow)\n"
        }
    }

    /// On one line.
    private var flow: String {
        switch self.content {
        case .nothing: "null"
        case .text(let text): Self.quoted(text, isString: self.isString)
        case .list(let elements): "[\(elements.map(\.flow).joined(separator: ", "))]"
        case .members(let members):
            members.isEmpty
                ? "{}" : "{ \(members.map { "\(Self.quoted($0.name, isString: false)): \($0.value.flow)" }.joined(separator: ", ")) }"
        }
    }

    /// As it is, if it can be nothing else, or in double quotes: the escapes of JSON are among those of YAML.
    private static func quoted(_ text: String, isString: Bool) -> String {
        if !isString, self.isPlain(text) { return text }
        var writer = JSONWriter(reserving: text.utf8.count + 16)
        writer.string(text)
        // YAML 1.1 takes these for line ends, and the last for the beginning of a text.
        return ["\u{85}": "\\u0085", "\u{2028}": "\\u2028", "\u{2029}": "\\u2029", "\u{FEFF}": "\\uFEFF"].reduce(
            String(decoding: writer.bytes, as: UTF8.self)
        ) { $0.replacing($1.key, with: $1.value) }
    }

    /// Words of letters, digits and a few marks, with single spaces between them.
    private static func isPlain(_ text: String) -> Bool {
        guard let first = text.utf8.first, let last = text.utf8.last, !["null", "Null", "NULL"].contains(text) else { return false }
        func isWord(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: false
            }
        }
        // A number below zero: in quotes it would be a string.
        if first == UInt8(ascii: "-") { return JSONPlaces.isNumber(Array(text.utf8)) }
        let hasOthers = text.utf8.contains { !isWord($0) && !" _./%+-".utf8.contains($0) }
        return isWord(first) && (isWord(last) || last == UInt8(ascii: "%")) && !hasOthers && !text.contains("  ")
    }
}
