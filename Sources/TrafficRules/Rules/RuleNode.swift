/// A value of a rules file, YAML or JSON, with its line. The caller has read the file.
///
/// All scalars are text: each setting interprets `none` or `30s` itself.
package struct RuleNode: Sendable, Hashable {
    package indirect enum Content: Sendable, Hashable {
        /// `null`, `~`, or nothing after the colon.
        case nothing
        case text(String)
        case list([RuleNode])
        case members([Member])
    }

    package struct Member: Sendable, Hashable {
        package var name: String
        package var line: Int
        package var value: RuleNode

        package init(name: String, line: Int, value: RuleNode) {
            self.name = name
            self.line = line
            self.value = value
        }
    }

    /// From 1.
    package var line: Int
    package var content: Content
    /// Whether a text was written as a string: in quotes in YAML, or as a string of JSON. Then `"1"` and `"true"` are strings where a value of
    /// JSON is asked for, and `1` and `true` are not.
    package var isString: Bool

    package init(line: Int, content: Content, isString: Bool = false) {
        self.line = line
        self.content = content
        self.isString = isString
    }
}

extension RuleNode {
    /// The value of a member; nil if this has no members, or none of the name.
    package subscript(name: String) -> RuleNode? {
        guard case .members(let members) = self.content else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// About the bytes that the value takes.
    package var size: Int {
        switch self.content {
        case .nothing: 16
        case .text(let text): 16 + text.utf8.count
        case .list(let list): list.reduce(16) { $0 + $1.size }
        case .members(let members): members.reduce(16) { $0 + $1.name.utf8.count + $1.value.size }
        }
    }

    /// Whether two values say the same, wherever they stand and however they are quoted.
    package func isSame(as other: RuleNode) -> Bool {
        switch (self.content, other.content) {
        case (.nothing, .nothing): return true
        case (.text(let one), .text(let two)):
            // In JSON, `1` and `"1"` differ.
            return one == two && (self.isString == other.isString || !JSONTemplate.isWord(one))
        case (.list(let one), .list(let other)):
            return one.count == other.count && zip(one, other).allSatisfy { $0.isSame(as: $1) }
        case (.members(let one), .members(let other)):
            return one.count == other.count && zip(one, other).allSatisfy { $0.name == $1.name && $0.value.isSame(as: $1.value) }
        case (.nothing, _), (.text, _), (.list, _), (.members, _): return false
        }
    }
}

/// The rules of one file or request, as they were written.
package struct RuleList: Sendable, Hashable {
    /// The value of `modify:`: a list of rules, or members `rules` and `seed`.
    package var node: RuleNode
    /// The name for errors.
    package var file: String
    /// Files that rules name are in it or below it. Nil if rules may name no files.
    package var folder: String?
    /// Nil for the seed of the run.
    package var seed: UInt64?

    package init(node: RuleNode, file: String, folder: String?, seed: UInt64? = nil) {
        self.node = node
        self.file = file
        self.folder = folder
        self.seed = seed
    }
}
