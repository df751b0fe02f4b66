internal import LocalHTTP
internal import TapeBytes
internal import TrafficRules

/// Answers a page's requests about the traffic rules of a run: the list, changes of it, and its text.
///
/// Each change names the list that the page has seen, so that no page changes what it has not shown.
struct RuleService {
    let rules: InspectedRules

    // MARK: The list

    func list() -> [UInt8] {
        let (numbered, reports) = (self.rules.engine.numbered, self.rules.engine.report())
        var writer = JSONWriter()
        writer.beginObject(.inline)
        writer.member("list")
        writer.integer(numbered.list)
        if let settings = self.rules.settings {
            writer.member("settings")
            writer.string(settings.name)
        }
        writer.member("judges")
        writer.bool(self.rules.verdict != nil)
        writer.member("rules")
        writer.beginArray(.inline)
        for report in reports where !report.isRetired {
            writer.element()
            Self.write(report, &writer)
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes + [10]
    }

    private static func write(_ report: RuleReport, _ writer: inout JSONWriter) {
        writer.beginObject(.inline)
        let texts: [(StaticString, String?)] = [
            ("name", report.name), ("kind", report.kind.rawValue), ("when", report.condition), ("file", report.place.file),
            ("draw", report.draw), ("words", report.description),
        ]
        for (name, text) in texts {
            guard let text else { continue }
            writer.member(name)
            writer.string(text)
        }
        let numbers: [(StaticString, Int)] = [
            ("line", report.place.line), ("matched", report.matched), ("applied", report.applied), ("drawn", report.drawn),
            ("preceded", report.preceded), ("displaced", report.displaced),
        ]
        for (name, number) in numbers {
            writer.member(name)
            writer.integer(number)
        }
        writer.member("enabled")
        writer.bool(report.isOn)
        writer.member("neverMatched")
        writer.bool(report.neverMatched)
        for (name, texts): (StaticString, [String]) in [("notes", report.notes), ("remarks", report.remarks)] {
            writer.member(name)
            writer.beginArray(.inline)
            for text in texts {
                writer.element()
                writer.string(text)
            }
            writer.endArray()
        }
        writer.endObject()
    }

    /// The text of one rule.
    func rule(_ number: String, _ arguments: [String: String]) throws(LocalHTTP.LocalAnswer) -> [UInt8] {
        let numbered = self.rules.engine.numbered
        guard arguments["list"].flatMap({ Int($0) }) == numbered.list else { throw Self.stale }
        guard let index = Int(number), numbered.rules.rules.indices.contains(index - 1) else { throw InspectorService.unknown }
        return Self.text(RuleNode(line: 1, content: .list([numbered.rules.rules[index - 1].current])).yaml())
    }

    /// The whole list as YAML.
    func yaml() -> [UInt8] { Self.text(self.rules.engine.rules.yaml) }

    static func text(_ text: String) -> [UInt8] {
        var writer = JSONWriter(reserving: text.utf8.count + 64)
        writer.beginObject(.inline)
        writer.member("text")
        writer.string(text)
        writer.endObject()
        return writer.bytes + [10]
    }

    /// What the clients did with answers that failed.
    func verdict() throws(LocalHTTP.LocalAnswer) -> [UInt8] {
        guard let verdict = self.rules.verdict else { throw InspectorService.unknown }
        var writer = JSONWriter()
        writer.beginObject(.inline)
        writer.member("findings")
        RuleLines.write(verdict() ?? [], to: &writer)
        writer.endObject()
        return writer.bytes + [10]
    }

    // MARK: Changes

    enum Change: String, CaseIterable { case add, replace, `switch`, move, remove }

    /// Changes the list that the page has seen, and returns the new one.
    func change(_ change: Change, _ body: [UInt8]) throws -> [UInt8] {
        let order = try InspectorOrder(body)
        let numbered = self.rules.engine.numbered
        guard let seen = order.values["list"]?.int else {
            throw InspectorService.bad("list", "\"list\" takes the number of the list that the page shows")
        }
        guard seen == numbered.list else { throw Self.stale }
        var changed = numbered.rules
        switch change {
        case .add:
            let list = try self.text(of: order, folder: nil)
            try changed.insert(list, at: order.values["at"]?.int.map { $0 - 1 } ?? changed.rules.count)
        case .replace:
            let index = try Self.index(order, "rule", changed)
            try changed.replace(index, with: try self.text(of: order, of: changed.rules[index]))
        case .switch:
            let index = try Self.index(order, "rule", changed)
            guard let isOn = order.values["enabled"]?.bool else { throw InspectorService.bad("enabled", "\"enabled\" takes true or false") }
            changed.rules[index].isOn = isOn
        case .move:
            changed.move(try Self.index(order, "rule", changed), to: try Self.index(order, "to", changed))
        case .remove: changed.rules.remove(at: try Self.index(order, "rule", changed))
        }
        try Self.checkSize(changed)
        guard self.rules.engine.replace(changed, after: numbered.list) != nil else { throw Self.stale }
        return self.list()
    }

    /// Puts rules at the beginning of the list, whatever it is by now.
    ///
    /// - Parameter check: called when the rules have been read, and before they are used; they are not used if it throws.
    func putFirst(_ node: RuleNode, check: () throws -> Void) throws {
        let list = RuleList(node: node, file: InspectedRules.pageName, folder: nil)
        var isChecked = false
        while true {
            let numbered = self.rules.engine.numbered
            var changed = numbered.rules
            try changed.insert(list, at: 0)
            try Self.checkSize(changed)
            if !isChecked { try check() }
            isChecked = true
            if self.rules.engine.replace(changed, after: numbered.list) != nil { return }
        }
    }

    private static func index(_ order: InspectorOrder, _ name: String, _ rules: TrafficRules) throws(LocalHTTP.LocalAnswer) -> Int {
        guard let number = order.values[name]?.int, rules.rules.indices.contains(number - 1) else {
            throw InspectorService.bad(name, "\"\(name)\" takes the number of a rule, from 1 to \(rules.rules.count)")
        }
        return number - 1
    }

    static func checkSize(_ rules: TrafficRules) throws(LocalHTTP.LocalAnswer) {
        guard rules.rules.reduce(0, { $0 + $1.node.size }) <= InspectedRules.totalLimit else {
            throw LocalHTTP.LocalAnswer(
                status: 413, reason: "Content Too Large", code: "too-large",
                message: "the rules together have more than 64 MiB: remove some, or write \"mapRemote\" to a server that has the bodies.")
        }
    }

    /// The rules in a request's `text`, which may name no files.
    private func text(of order: InspectorOrder, folder: String?) throws -> RuleList {
        RuleList(node: try self.node(of: order), file: InspectedRules.pageName, folder: folder)
    }

    /// The same for a new version of a rule, which may name the files of the old one.
    func text(of order: InspectorOrder, of rule: TrafficRule?) throws -> RuleList {
        let node = try self.node(of: order)
        let list = RuleList(node: node, file: InspectedRules.pageName, folder: nil)
        guard let rule else { return list }
        return RuleList(node: node, file: list.file, folder: rule.folder(for: node))
    }

    private func node(of order: InspectorOrder) throws -> RuleNode {
        guard let text = try order.text("text") else { throw InspectorService.bad("text", "\"text\" takes a rule as YAML or JSON") }
        guard text.utf8.count <= InspectedRules.textLimit else {
            throw LocalHTTP.LocalAnswer(
                status: 413, reason: "Content Too Large", code: "too-large",
                message: "the text has more than 4 MiB: write \"mapRemote\" to a server that has the body.")
        }
        return try self.rules.read(Array(text.utf8), InspectedRules.pageName)
    }

    static let stale = LocalHTTP.LocalAnswer(
        status: 409, reason: "Conflict", code: "stale",
        message: "the rules have changed since the page showed them: look at the new list, then repeat this.")

    // MARK: Saving

    /// What saving would change in the settings file, or the change itself if the request has the digest of that.
    func save(_ body: [UInt8]) throws -> [UInt8] {
        guard let settings = self.rules.settings else {
            throw LocalHTTP.LocalAnswer(
                status: 422, reason: "Unprocessable Content", code: "settings",
                message: "this run reads no settings file: copy the rules as YAML, and put them where the run gets its rules from.")
        }
        let order = try InspectorOrder(body)
        let numbered = self.rules.engine.numbered
        guard order.values["list"]?.int == numbered.list else { throw Self.stale }
        let saving = try RuleSaving(numbered.rules, loaded: self.rules.loaded, to: settings, read: self.rules.read)
        var writer = JSONWriter()
        writer.beginObject(.inline)
        if let digest = try order.text("digest") {
            guard digest == saving.digest else {
                throw LocalHTTP.LocalAnswer(
                    status: 409, reason: "Conflict", code: "stale",
                    message: "\"\(settings.name)\" or the rules have changed since the differences were shown: look at them again.")
            }
            self.rules.engine.relocate(try saving.write())
            writer.member("written")
            writer.bool(saving.changes)
        } else {
            writer.member("digest")
            writer.string(saving.digest)
        }
        saving.write(into: &writer)
        writer.endObject()
        return writer.bytes + [10]
    }
}
