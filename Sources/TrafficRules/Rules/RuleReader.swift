internal import TapeBytes

/// Reads values of a rules file and makes the errors for them.
struct RuleReader: Sendable {
    /// The name for errors.
    let file: String
    let folder: String?
    /// Which rule it is, for errors in place of the line; nil if its line tells.
    var rule: String?

    /// - Parameter reason: what is wrong and what to write instead, without a period.
    func error(_ line: Int, _ reason: String) -> SettingSyntaxError {
        if let rule { return SettingSyntaxError("\"\(self.file)\" \(rule): \(reason)") }
        // Values of the control API have no file: its members are named like one.
        if reason.hasPrefix("\"\(self.file)\" ") { return SettingSyntaxError(reason) }
        return SettingSyntaxError("\"\(self.file)\" line \(line): \(reason)")
    }

    /// A reader for one of several rules.
    ///
    /// - Parameters:
    ///   - number: of the rule in its list, from 1.
    ///   - rules: all rules of the list. If some of them begin on one line, as in JSON that a program wrote, the line does not tell which.
    func reading(_ node: RuleNode, number: Int, of rules: [RuleNode]) -> RuleReader {
        guard zip(rules, rules.dropFirst()).contains(where: { $0.line == $1.line }) else { return self }
        var reader = self
        reader.rule = "rule \(number)"
        if case .text(let name)? = node["name"]?.content { reader.rule = "rule \(number) (\"\(Self.shown(name))\")" }
        return reader
    }

    /// Text that is safe to print.
    static func shown(_ text: String) -> String { PlainText.escape(text.utf8, limit: 80) }

    /// The members of a value. Throws if it has none, or one with an unknown name or twice.
    func members(_ node: RuleNode, of what: String, known: [String]) throws(SettingSyntaxError) -> RuleMembers {
        guard case .members(let list) = node.content else {
            throw self.error(node.line, "\(what) needs members, each a name, a colon and a value: \(known.joined(separator: ", "))")
        }
        var seen: Set<String> = []
        for member in list {
            let shown = Self.shown(member.name)
            guard seen.insert(member.name).inserted else {
                throw self.error(member.line, "\"\(shown)\" appears twice in \(what): remove one of them")
            }
            guard known.contains(member.name) else {
                if let near = Self.nearest(to: member.name, in: known) {
                    throw self.error(member.line, "\(what) has no \"\(shown)\"; did you mean \"\(near)\"?")
                }
                throw self.error(member.line, "\(what) has no \"\(shown)\"; write one of \(known.joined(separator: ", "))")
            }
        }
        return RuleMembers(reader: self, what: what, line: node.line, list: list)
    }

    func text(_ node: RuleNode, _ what: String) throws(SettingSyntaxError) -> String {
        guard case .text(let text) = node.content else { throw self.error(node.line, "\(what) needs a text") }
        return text
    }

    /// One text, or a list of texts.
    func texts(_ node: RuleNode, _ what: String) throws(SettingSyntaxError) -> [(text: String, line: Int)] {
        guard case .list(let list) = node.content else { return [(try self.text(node, what), node.line)] }
        var texts: [(text: String, line: Int)] = []
        for element in list { texts.append((try self.text(element, "each element of \(what)"), element.line)) }
        return texts
    }

    func flag(_ node: RuleNode, _ what: String) throws(SettingSyntaxError) -> Bool {
        switch try self.text(node, what) {
        case "true", "yes", "on": return true
        case "false", "no", "off": return false
        case let text: throw self.error(node.line, "\(what) is \"\(Self.shown(text))\"; write true or false")
        }
    }

    func integer(_ node: RuleNode, _ what: String, _ range: ClosedRange<Int>) throws(SettingSyntaxError) -> Int {
        let text = try self.text(node, what)
        let isNumber = !text.isEmpty && text.utf8.count <= 18 && text.utf8.allSatisfy { 48...57 ~= $0 }
        guard isNumber, let number = Int(text), range.contains(number) else {
            throw self.error(
                node.line, "\(what) is \"\(Self.shown(text))\"; write a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func duration(_ node: RuleNode, _ what: String, atMost limit: Duration = .seconds(86_400)) throws(SettingSyntaxError) -> Duration {
        let text = try self.text(node, what)
        guard let duration = Quantity.duration(text) else {
            throw self.error(
                node.line, "\(what) is \"\(Self.shown(text))\"; write a time with its unit, for example 200ms, 2s, 1.5s or 3m")
        }
        guard duration <= limit else {
            throw self.error(node.line, "\(what) is longer than \(Quantity.text(limit)); write a shorter time")
        }
        return duration
    }

    /// The name that a misspelled one is closest to; nil if none is close.
    static func nearest(to name: String, in known: [String]) -> String? {
        let lowercase = name.lowercased()
        let ranked = known.map { (name: $0, distance: Self.distance(lowercase, $0.lowercased())) }
        guard let best = ranked.min(by: { $0.distance < $1.distance }), best.distance <= max(1, best.name.utf8.count / 3) else {
            return nil
        }
        return best.name
    }

    /// Characters to insert, remove or replace (Levenshtein).
    private static func distance(_ one: String, _ other: String) -> Int {
        let (one, other) = (Array(one.prefix(40)), Array(other.prefix(40)))
        var row = Array(0...other.count)
        for (index, character) in one.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in other.indices {
                let replaced = diagonal + (character == other[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, row[column] + 1, diagonal + 1)
            }
        }
        return row[other.count]
    }
}

/// The members of one value, whose names have been checked.
struct RuleMembers: Sendable {
    let reader: RuleReader
    /// For errors, as `"fault"`.
    let what: String
    let line: Int
    let list: [RuleNode.Member]

    subscript(name: String) -> RuleNode? { self.list.first { $0.name == name }?.value }

    func has(_ name: String) -> Bool { self.list.contains { $0.name == name } }

    func error(_ reason: String) -> SettingSyntaxError { self.reader.error(self.line, reason) }

    func error(_ name: String, _ reason: String) -> SettingSyntaxError {
        self.reader.error(self.list.first { $0.name == name }?.line ?? self.line, reason)
    }

    private func label(_ name: String) -> String { "\"\(name)\" of \(self.what)" }

    func text(_ name: String) throws(SettingSyntaxError) -> String? {
        guard let node = self[name] else { return nil }
        return try self.reader.text(node, self.label(name))
    }

    func flag(_ name: String) throws(SettingSyntaxError) -> Bool? {
        guard let node = self[name] else { return nil }
        return try self.reader.flag(node, self.label(name))
    }

    func integer(_ name: String, _ range: ClosedRange<Int>) throws(SettingSyntaxError) -> Int? {
        guard let node = self[name] else { return nil }
        return try self.reader.integer(node, self.label(name), range)
    }

    func duration(_ name: String, atMost limit: Duration = .seconds(86_400)) throws(SettingSyntaxError) -> Duration? {
        guard let node = self[name] else { return nil }
        return try self.reader.duration(node, self.label(name), atMost: limit)
    }

    /// One of the words of an enumeration.
    func choice<Choice: RawRepresentable & CaseIterable>(
        _ name: String, _: Choice.Type
    ) throws(SettingSyntaxError) -> Choice? where Choice.RawValue == String {
        guard let text = try self.text(name) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let known = Choice.allCases.map(\.rawValue)
            let near = RuleReader.nearest(to: text, in: known).map { "; did you mean \"\($0)\"?" }
            throw self.error(
                name,
                "\(self.label(name)) is \"\(RuleReader.shown(text))\"\(near ?? "; write one of \(known.joined(separator: ", "))")")
        }
        return choice
    }
}
