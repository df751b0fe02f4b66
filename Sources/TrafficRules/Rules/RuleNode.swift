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
