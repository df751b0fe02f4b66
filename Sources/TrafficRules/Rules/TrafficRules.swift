package import TapeBytes

/// The rules of a run in their order.
package struct TrafficRules: Sendable {
    /// More rules are a program, and each request would wait for them.
    package static let limit = 1000

    package var rules: [TrafficRule]

    /// No rules.
    package init() {
        self.rules = []
    }

    /// Rules from several lists, in the order of the lists.
    ///
    /// Throws for the first thing that is wrong, with its file and line and what to write instead.
    package init(_ lists: [RuleList]) throws(SettingSyntaxError) {
        var rules: [TrafficRule] = []
        var names: [String: TrafficRule.Place] = [:]
        for list in lists {
            let reader = RuleReader(file: list.file, folder: list.folder)
            let (nodes, seed) = try Self.nodes(list, reader)
            for (index, node) in nodes.enumerated() {
                let reader = reader.reading(node, number: index + 1, of: nodes)
                guard rules.count < Self.limit else {
                    throw reader.error(
                        node.line, "there are more than \(Self.limit) rules; remove some, or put a server behind \"mapRemote\"")
                }
                let rule = try TrafficRule(node, number: rules.count + 1, seed: seed, reader)
                if let other = names[rule.name] {
                    throw reader.error(
                        node.line, "another rule, of \(other), is called \"\(RuleReader.shown(rule.name))\", too: rename one of them")
                }
                names[rule.name] = rule.place
                rules.append(rule)
            }
        }
        self.rules = rules
    }

    private static func nodes(_ list: RuleList, _ reader: RuleReader) throws(SettingSyntaxError) -> ([RuleNode], UInt64?) {
        switch list.node.content {
        case .nothing: return ([], list.seed)
        case .list(let nodes): return (nodes, list.seed)
        case .text:
            throw reader.error(list.node.line, "\"modify\" needs a list of rules; write each after \"- \", for example - block: 403")
        case .members(let all):
            // Most likely a rule without its dash.
            if let member = all.first, !["rules", "seed"].contains(member.name) {
                throw reader.error(
                    member.line, "\"modify\" needs a list of rules; write \"- \" before \"\(RuleReader.shown(member.name))\"")
            }
            let members = try reader.members(list.node, of: "\"modify\"", known: ["rules", "seed"])
            var seed = list.seed
            if let text = try members.text("seed") {
                guard let number = UInt64(text) else {
                    throw members.error(
                        "seed", "\"seed\" is \"\(RuleReader.shown(text))\"; write a whole number from 0 to 18446744073709551615")
                }
                seed = number
            }
            guard let rules = members["rules"] else {
                throw reader.error(list.node.line, "\"modify\" has no \"rules\"; write each of them after \"- \", for example - block: 403")
            }
            guard case .list(let nodes) = rules.content else {
                throw reader.error(rules.line, "\"rules\" needs a list; write each rule after \"- \"")
            }
            return (nodes, seed)
        }
    }

    package var isEmpty: Bool { self.rules.isEmpty }

    /// The same rules without seeds of their own, so that they draw by the run's.
    package var withoutSeeds: TrafficRules {
        var rules = self
        for index in rules.rules.indices { rules.rules[index].seed = nil }
        return rules
    }

    /// Whether some rule that is on looks at bodies of requests.
    package var needsBody: Bool {
        self.rules.contains { $0.isOn && ($0.when?.needsBody == true || $0.actionNeedsBody || $0.showsBody) }
    }

    /// Whether a rule that may apply to a request looks at its body.
    ///
    /// - Parameter head: whose `body` does not count.
    package func needsBody(_ head: RequestFacts) -> Bool {
        guard self.needsBody else { return false }
        var request = RequestView(head)
        return self.rules.contains { rule in
            guard rule.isOn else { return false }
            let needs = (condition: rule.when?.needsBody == true, action: rule.actionNeedsBody || rule.showsBody)
            guard needs.condition || needs.action else { return false }
            return switch rule.when?.likelihood(&request) ?? .yes {
            case .no: false
            case .open: true
            case .yes: needs.action
            }
        }
    }

    /// Whether the plan for some request may read a file, and so wait for the disk.
    package var readsFiles: Bool {
        self.rules.contains { rule in
            if case .mapLocal = rule.action { rule.isOn } else { false }
        }
    }
}
