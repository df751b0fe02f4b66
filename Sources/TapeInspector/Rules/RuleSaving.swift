internal import LocalHTTP
internal import TapeBytes
internal import TrafficRules

/// What it takes to write a run's rules into its settings file: the old and the new text, and the rules that stay elsewhere.
///
/// Writes only rules of that file and of the page. Rules of other files belong to those.
struct RuleSaving {
    private let settings: RuleSettings
    private let before: [UInt8]?
    private let after: [UInt8]
    /// The names of the rules that are written, and the nodes as the new text has them.
    private let names: [String]
    private let nodes: [RuleNode]
    /// Rules of the file's sections for some cassettes that are below the list, which move when the list grows.
    private let below: [TrafficRule]
    /// Rules of other files that the page has changed: those files stay as they are.
    private let elsewhere: [String]

    /// Throws if the file cannot be read, or cannot be changed without rewriting other parts of it.
    init(_ rules: TrafficRules, loaded: TrafficRules, to settings: RuleSettings, read: InspectedRules.Reader) throws {
        guard !settings.name.hasSuffix(".json") else {
            throw Self.refusal("\"\(settings.name)\" is JSON, and rules are written as YAML: copy them, and put them there yourself")
        }
        self.settings = settings
        let before = try Self.reporting { try settings.load() }
        let text = before ?? []
        let root = try read(text, settings.name)
        let own = root["modify"].map(RuleSplice.rules) ?? []
        guard own.count == settings.rules.count, zip(own, settings.rules).allSatisfy({ $0.isSame(as: $1) }) else {
            throw LocalHTTP.LocalAnswer(
                status: 409, reason: "Conflict", code: "settings",
                message:
                    "the rules in \"\(settings.name)\" have changed since the run began: nothing is written. Copy the rules, and put them there yourself."
            )
        }
        var wanted: [RuleSplice.Wanted] = []
        var names: [String] = []
        for rule in rules.rules {
            let index = settings.index(of: rule.place)
            guard index != nil || rule.place.file == InspectedRules.pageName else { continue }
            wanted.append(RuleSplice.Wanted(node: rule.current, old: index))
            names.append(rule.name)
        }
        // Rules of sections are known by their lines, too.
        let claimed = wanted.compactMap(\.old)
        guard Set(claimed).count == claimed.count else {
            throw Self.refusal(
                "the rules of \"\(settings.name)\" cannot be told apart by their lines: copy the rules, and put them there yourself")
        }
        let isUnchanged =
            wanted.map(\.old) == own.indices.map { $0 } && zip(wanted, own).allSatisfy { $0.node.isSame(as: $1) }
        if isUnchanged {
            self.after = text
            self.nodes = own
        } else {
            (self.after, self.nodes) = try Self.text(text, root, wanted, settings, read)
        }
        self.before = before
        self.names = names
        let line = Self.line(of: root) ?? Int.max
        self.below = rules.rules.filter { $0.place.file == settings.name && settings.index(of: $0.place) == nil && $0.place.line > line }
        self.elsewhere = Self.elsewhere(rules, loaded, settings)
    }

    private static func refusal(_ message: String) -> LocalHTTP.LocalAnswer {
        LocalHTTP.LocalAnswer(status: 422, reason: "Unprocessable Content", code: "settings", message: "\(message).")
    }

    /// Reports why a file cannot be read or written.
    private static func reporting<Result>(_ work: () throws -> Result) throws -> Result {
        do {
            return try work()
        } catch let error as SettingSyntaxError {
            throw LocalHTTP.LocalAnswer(status: 422, reason: "Unprocessable Content", code: "settings", message: error.message)
        }
    }

    /// The first candidate that reads as the same settings with the wanted rules.
    private static func text(
        _ text: [UInt8], _ root: RuleNode, _ wanted: [RuleSplice.Wanted], _ settings: RuleSettings, _ read: InspectedRules.Reader
    ) throws -> ([UInt8], [RuleNode]) {
        for candidate in RuleSplice(text, root: root).candidates(wanted) {
            guard let new = try? read(candidate, settings.name), self.isSame(new, root),
                case let nodes = new["modify"].map(RuleSplice.rules) ?? [], nodes.count == wanted.count,
                zip(nodes, wanted).allSatisfy({ $0.isSame(as: $1.node) })
            else { continue }
            guard candidate.count <= settings.sizeLimit else {
                throw self.refusal(
                    "\"\(settings.name)\" would have \(candidate.count) bytes, and a run reads at most \(settings.sizeLimit): put large bodies into files, or remove some rules"
                )
            }
            if let modify = new["modify"] {
                // As the next run reads it: for example with other names for rules that have none.
                _ = try TrafficRules([RuleList(node: modify, file: settings.name, folder: settings.folder)])
            }
            return (candidate, nodes)
        }
        throw self.refusal(
            "\"\(settings.name)\" is written in a way that cannot be changed without rewriting other parts of it: copy the rules, and put them there yourself"
        )
    }

    /// Whether two files have the same settings apart from the rules.
    private static func isSame(_ new: RuleNode, _ old: RuleNode) -> Bool {
        func others(_ root: RuleNode) -> RuleNode? {
            switch root.content {
            case .nothing: return RuleNode(line: 1, content: .members([]))
            case .members(let members):
                var rest = members.filter { $0.name != "modify" }
                if case .members(let inner)? = root["modify"]?.content {
                    rest += inner.filter { $0.name != "rules" }
                }
                return RuleNode(line: 1, content: .members(rest))
            case .text, .list: return nil
            }
        }
        guard let new = others(new), let old = others(old) else { return false }
        return new.isSame(as: old)
    }

    /// The line of `modify`.
    private static func line(of root: RuleNode) -> Int? {
        guard case .members(let members) = root.content else { return nil }
        return members.first { $0.name == "modify" }?.line
    }

    private static func elsewhere(_ rules: TrafficRules, _ loaded: TrafficRules, _ settings: RuleSettings) -> [String] {
        let isOthers = { (rule: TrafficRule) in
            settings.index(of: rule.place) == nil && rule.place.file != InspectedRules.pageName
        }
        var words: [String] = []
        let now = rules.rules.filter(isOthers)
        for rule in loaded.rules.filter(isOthers) {
            // Places are those of the beginning: a rule that was changed keeps its own.
            guard let same = now.first(where: { $0.place == rule.place }) else {
                words.append("\"\(rule.name)\" is removed here, and stays in \(rule.place)")
                continue
            }
            if !same.current.isSame(as: rule.current) {
                words.append("\"\(same.name)\" is changed here, and stays as it is in \(rule.place)")
            }
        }
        return words
    }

    // MARK: The result

    var changes: Bool { self.after != self.before ?? [] }

    /// Of both texts.
    var digest: String {
        var digest = PortableSHA256()
        for text in [self.before ?? [], Array("\(self.before?.count ?? -1)".utf8), self.after] {
            text.withUnsafeBytes { digest.update($0) }
        }
        return digest.finalize().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Writes the file.
    ///
    /// - Returns: the places that the rules have there now, by their names.
    func write() throws -> [String: TrafficRule.Place] {
        if self.changes {
            try Self.reporting { try self.settings.replace(self.after) }
        }
        self.settings.wrote(self.nodes)
        var places: [String: TrafficRule.Place] = [:]
        let growth = self.after.count { $0 == 10 } - (self.before ?? []).count { $0 == 10 }
        for rule in self.below { places[rule.name] = TrafficRule.Place(file: self.settings.name, line: rule.place.line + growth) }
        for (name, node) in zip(self.names, self.nodes) { places[name] = TrafficRule.Place(file: self.settings.name, line: node.line) }
        return places
    }

    func write(into writer: inout JSONWriter) {
        writer.member("file")
        writer.string(self.settings.name)
        writer.member("changes")
        writer.bool(self.changes)
        for (name, text) in [("before", self.before ?? []), ("after", self.after)] {
            writer.member(named: name)
            text.withUnsafeBytes { writer.string(utf8: $0) }
        }
        writer.member("elsewhere")
        writer.beginArray(.inline)
        for words in self.elsewhere {
            writer.element()
            writer.string(words)
        }
        writer.endArray()
    }
}
