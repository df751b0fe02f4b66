package import TapeBytes

/// Changes of a list of rules while it is in use. Rules that stay keep their names.
extension TrafficRules {
    /// Puts rules into the list.
    ///
    /// Throws for the first thing that is wrong, with its line; then nothing has changed.
    ///
    /// - Parameters:
    ///   - list: one rule, a list of rules, or a list under `modify`.
    ///   - place: the index that the first of them gets.
    package mutating func insert(_ list: RuleList, at place: Int) throws(SettingSyntaxError) {
        let reader = RuleReader(file: list.file, folder: list.folder)
        let nodes = Self.ruleNodes(list.node)
        guard !nodes.isEmpty else { throw reader.error(list.node.line, "there is no rule; write for example block: 403") }
        guard self.rules.count + nodes.count <= Self.limit else {
            throw reader.error(list.node.line, "there are more than \(Self.limit) rules; remove some")
        }
        var changed = self
        for (offset, node) in nodes.enumerated() {
            let rule = try changed.read(node, list, reader, besides: nil)
            changed.rules.insert(rule, at: min(max(place, 0) + offset, changed.rules.count))
        }
        self = changed
    }

    /// Puts another rule in the place of one. It is reported with the place of the old one.
    package mutating func replace(_ index: Int, with list: RuleList) throws(SettingSyntaxError) {
        let reader = RuleReader(file: list.file, folder: list.folder)
        let nodes = Self.ruleNodes(list.node)
        guard nodes.count == 1, let node = nodes.first else {
            throw reader.error(list.node.line, "there are \(nodes.count) rules; write one, or add the others as rules of their own")
        }
        var rule = try self.read(node, list, reader, besides: index)
        rule.place = self.rules[index].place
        self.rules[index] = rule
    }

    /// - Parameter place: the index that the rule gets.
    package mutating func move(_ index: Int, to place: Int) {
        let rule = self.rules.remove(at: index)
        self.rules.insert(rule, at: min(max(place, 0), self.rules.count))
    }

    private static func ruleNodes(_ node: RuleNode) -> [RuleNode] {
        switch node.content {
        case .nothing: return []
        case .list(let nodes): return nodes
        case .text: return [node]
        case .members(let members):
            guard members.count == 1, let member = members.first, member.name == "modify" else { return [node] }
            return self.ruleNodes(member.value)
        }
    }

    /// - Parameter index: of the rule that this one replaces; nil for one more.
    private func read(
        _ node: RuleNode, _ list: RuleList, _ reader: RuleReader, besides index: Int?
    ) throws(SettingSyntaxError) -> TrafficRule {
        let others = self.rules.enumerated().filter { $0.offset != index }.map(\.element)
        var rule = try TrafficRule(node, number: self.freeNumber(others), seed: list.seed, reader)
        if let index, node["name"] == nil, self.rules[index].node["name"] == nil { rule.name = self.rules[index].name }
        if let other = others.first(where: { $0.name == rule.name }) {
            throw reader.error(
                node.line, "another rule, of \(other.place), is called \"\(RuleReader.shown(rule.name))\", too: rename one of them")
        }
        return rule
    }

    /// The first number from the end of the list on that names no other rule.
    private func freeNumber(_ others: [TrafficRule]) -> Int {
        let names = Set(others.map(\.name))
        var number = others.count + 1
        while names.contains("rule \(number)") { number += 1 }
        return number
    }
}

extension TrafficRule {
    /// The rule as it was written, with `enabled` as it is now.
    package var current: RuleNode {
        guard case .members(let members) = self.node.content else { return self.node }
        let written = members.first { $0.name == "enabled" }?.value.content
        let isWrittenOn =
            switch written {
            case .text("false"), .text("no"), .text("off"): false
            case .nothing?, .text?, .list?, .members?, nil: true
            }
        guard isWrittenOn != self.isOn else { return self.node }
        var changed = members.filter { $0.name != "enabled" }
        if !self.isOn {
            let value = RuleNode(line: self.node.line, content: .text("false"))
            changed.append(RuleNode.Member(name: "enabled", line: self.node.line, value: value))
        }
        return RuleNode(line: self.node.line, content: .members(changed))
    }

    /// The folder that the rule's files are in, if a new version of the rule names no other files than the rule does; nil otherwise.
    ///
    /// Whoever sends the new version may then keep the rule's files, and choose none.
    package func folder(for node: RuleNode) -> String? {
        var named: Set<String> = []
        self.node.collectFiles(into: &named)
        var wanted: Set<String> = []
        node.collectFiles(into: &wanted)
        return wanted.isSubset(of: named) ? self.folder : nil
    }
}

extension TrafficRules {
    /// The rules as a list of YAML, under `modify`.
    package var yaml: String {
        guard !self.rules.isEmpty else { return "modify: []\n" }
        return "modify:\n" + RuleNode(line: 1, content: .list(self.rules.map(\.current))).yaml(indent: 2)
    }
}

extension RuleNode {
    /// Paths of files in a rule.
    fileprivate func collectFiles(into paths: inout Set<String>) {
        switch self.content {
        case .nothing, .text: return
        case .list(let list): for node in list { node.collectFiles(into: &paths) }
        case .members(let members):
            for member in members {
                if ["mapLocal", "file"].contains(member.name), case .text(let path) = member.value.content { paths.insert(path) }
                member.value.collectFiles(into: &paths)
            }
        }
    }
}
