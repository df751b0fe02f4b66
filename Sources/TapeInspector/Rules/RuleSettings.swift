internal import TapeBytes
package import TrafficRules

/// The settings file of a run, into which a page may write rules.
///
/// Does not know how files are read and replaced: its creator does. Any thread may use it.
package final class RuleSettings: Sendable {
    /// The path as people named it.
    package let name: String
    /// The file's bytes; nil if there is no file yet. Throws `SettingSyntaxError` with a message for people, as `replace` does.
    let load: @Sendable () throws -> [UInt8]?
    /// Replaces the file in one step.
    let replace: @Sendable ([UInt8]) throws -> Void
    /// The folder of files that its rules name.
    let folder: String?
    /// The most bytes that a run reads.
    let sizeLimit: Int
    /// The rules in the file, as the run read them or as a page wrote them last.
    private let known: Guarded<[RuleNode]>

    /// - Parameter rules: the value of `modify` in the file; nil if it has none. Not that of a section for some cassettes.
    package init(
        name: String, rules: RuleNode?, folder: String?, sizeLimit: Int, load: @escaping @Sendable () throws -> [UInt8]?,
        replace: @escaping @Sendable ([UInt8]) throws -> Void
    ) {
        self.name = name
        self.known = Guarded(rules.map(RuleSplice.rules) ?? [])
        self.folder = folder
        self.sizeLimit = sizeLimit
        self.load = load
        self.replace = replace
    }

    var rules: [RuleNode] { self.known.withLock { $0 } }

    func wrote(_ rules: [RuleNode]) { self.known.withLock { $0 = rules } }

    /// The position of a rule among those of the file; nil if it is not from there.
    func index(of place: TrafficRule.Place) -> Int? {
        guard place.file == self.name else { return nil }
        return self.rules.firstIndex { $0.line == place.line }
    }
}
