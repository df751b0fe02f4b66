internal import TapeBytes
internal import TrafficRules

/// Puts rules into the text of a settings file, and leaves every other byte of it alone.
///
/// Knows the file by its lines and parsed values. Rules that stay keep their lines and comments.
struct RuleSplice {
    /// A rule that the file shall have.
    struct Wanted {
        var node: RuleNode
        /// The position among the rules that the file has now; nil for a new rule.
        var old: Int?
    }

    /// The rules in a value of `modify`.
    static func rules(_ node: RuleNode) -> [RuleNode] {
        switch node.content {
        case .list(let rules): rules
        case .members: node["rules"].map(self.rules) ?? []
        case .nothing, .text: []
        }
    }

    private let lines: [ArraySlice<UInt8>]
    private let root: RuleNode

    /// - Parameters:
    ///   - text: YAML.
    ///   - root: the value that it reads as.
    init(_ text: [UInt8], root: RuleNode) {
        var lines: [ArraySlice<UInt8>] = []
        var start = 0
        while start < text.count {
            let end = text[start...].firstIndex(of: 10).map { $0 + 1 } ?? text.count
            lines.append(text[start..<end])
            start = end
        }
        self.lines = lines
        self.root = root
    }

    /// Texts that may be the wanted one, the most careful first. The caller reads each and takes the first that means what it should.
    func candidates(_ wanted: [Wanted]) -> [[UInt8]] {
        guard let modify = self.root["modify"] else {
            guard !wanted.isEmpty else { return [self.lines.flatMap { $0 }] }
            var text = self.lines.flatMap { $0 }
            if let last = text.last, last != 10 { text.append(10) }
            return [text + Array("modify:\n".utf8) + Self.written(wanted.map(\.node), indent: 2)]
        }
        guard let region = self.region(modify) else { return [] }
        return [self.spliced(region, wanted, keepsLines: true), self.spliced(region, wanted, keepsLines: false)].compactMap { $0 }
            + [self.rewritten(region, wanted)]
    }

    // MARK: Where the list is

    /// Indices of lines.
    private struct Region {
        /// The line with the name before the list.
        var key: Int
        /// From the first line of the list up to the line after its last one.
        var list: Range<Int>
        /// The first lines of the rules.
        var starts: [Int]
        /// Spaces before the dash of each rule; nil if the list is not written in blocks.
        var indent: Int?
    }

    private func region(_ modify: RuleNode) -> Region? {
        guard case .members(let members) = self.root.content, let place = members.firstIndex(where: { $0.name == "modify" }) else {
            return nil
        }
        var key = members[place].line - 1
        // The lines of names that may come after the list.
        var later = members[(place + 1)...].map { $0.line - 1 }
        if case .members(let inner) = modify.content {
            guard let rules = inner.firstIndex(where: { $0.name == "rules" }) else { return nil }
            key = inner[rules].line - 1
            later += inner[(rules + 1)...].map { $0.line - 1 }
        }
        let starts = Self.rules(modify).map { $0.line - 1 }
        guard key < self.lines.count, starts.allSatisfy({ $0 < self.lines.count }) else { return nil }
        let dashes = Set(starts.map { self.dash($0) })
        let isInBlocks = starts.isEmpty || dashes.count == 1 && Set(starts).count == starts.count && (starts.first ?? 0) > key
        let indent: Int? = isInBlocks ? starts.isEmpty ? 2 : dashes.first ?? nil : nil
        var end = later.min() ?? self.lines.count
        // What stands before the next setting belongs to that.
        while end > (starts.last ?? key) + 1, self.isAside(end - 1, indent: indent ?? 0) { end -= 1 }
        return Region(key: key, list: (key + 1)..<end, starts: starts, indent: indent)
    }

    /// The spaces before the dash that a line begins with; nil if it begins with something else.
    private func dash(_ line: Int) -> Int? {
        let text = self.lines[line]
        let indent = text.prefix { $0 == 32 }.count
        let rest = text.dropFirst(indent)
        return rest.first == UInt8(ascii: "-") && rest.dropFirst().first == 32 ? indent : nil
    }

    /// Whether a line is blank, or a comment that is not deeper than the rules: deeper, it may be a part of a text.
    private func isAside(_ line: Int, indent: Int) -> Bool {
        let text = self.lines[line]
        let spaces = text.prefix { $0 == 32 }.count
        let rest = text.dropFirst(spaces)
        guard let first = rest.first, first != 10, first != 13 else { return true }
        return first == UInt8(ascii: "#") && spaces <= indent
    }

    // MARK: New texts

    private static func written(_ nodes: [RuleNode], indent: Int) -> [UInt8] {
        guard !nodes.isEmpty else { return [] }
        return Array(RuleNode(line: 1, content: .list(nodes)).yaml(indent: indent).utf8)
    }

    /// The lines of each rule, with the comments before it.
    private func chunks(_ region: Region, _ indent: Int) -> [(aside: Range<Int>, rule: Range<Int>)] {
        var chunks: [(aside: Range<Int>, rule: Range<Int>)] = []
        var before = region.list.lowerBound
        for (index, start) in region.starts.enumerated() {
            let isLast = index + 1 == region.starts.count
            var end = isLast ? region.list.upperBound : region.starts[index + 1]
            while !isLast, end > start + 1, self.isAside(end - 1, indent: indent) { end -= 1 }
            chunks.append((before..<start, start..<end))
            before = end
        }
        return chunks
    }

    /// - Parameter keepsLines: whether a rule that was only switched on or off keeps its lines.
    private func spliced(_ region: Region, _ wanted: [Wanted], keepsLines: Bool) -> [UInt8]? {
        guard let indent = region.indent else { return nil }
        let old = Self.rules(self.root["modify"] ?? RuleNode(line: 1, content: .nothing))
        let chunks = self.chunks(region, indent)
        var text = self.lines[..<region.key].flatMap { $0 }
        text += self.keyLine(region, isEmpty: wanted.isEmpty)
        for rule in wanted {
            guard let index = rule.old, chunks.indices.contains(index) else {
                text += Self.written([rule.node], indent: indent)
                continue
            }
            let chunk = chunks[index]
            text += self.lines[chunk.aside].flatMap { $0 }
            var own = self.lines[chunk.rule].flatMap { $0 }
            if !old[index].isSame(as: rule.node) {
                own =
                    keepsLines
                    ? self.switched(chunk.rule, from: old[index], to: rule.node, indent) ?? Self.written([rule.node], indent: indent)
                    : Self.written([rule.node], indent: indent)
            }
            text += Self.ended(own)
        }
        return text + self.lines[region.list.upperBound...].flatMap { $0 }
    }

    /// The rule's lines with `enabled` changed; nil if something else differs.
    private func switched(_ range: Range<Int>, from old: RuleNode, to new: RuleNode, _ indent: Int) -> [UInt8]? {
        guard case .members(let before) = old.content, case .members(let after) = new.content else { return nil }
        let rest = { (members: [RuleNode.Member]) in
            RuleNode(line: 1, content: .members(members.filter { $0.name != "enabled" }))
        }
        guard rest(before).isSame(as: rest(after)) else { return nil }
        if let line = before.first(where: { $0.name == "enabled" })?.line {
            return range.filter { $0 != line - 1 }.flatMap { self.lines[$0] }
        }
        return Self.ended(range.flatMap { self.lines[$0] }) + Array("\(String(repeating: " ", count: indent + 2))enabled: false\n".utf8)
    }

    /// The whole list anew.
    private func rewritten(_ region: Region, _ wanted: [Wanted]) -> [UInt8] {
        let spaces = self.lines[region.key].prefix { $0 == 32 }.count
        var end = region.list.upperBound
        // A list in brackets may end in the line of its name.
        end = max(end, region.key + 1)
        let name = self.lines[region.key].dropFirst(spaces).prefix { $0 != UInt8(ascii: ":") }
        var text = self.lines[..<region.key].flatMap { $0 } + Array(repeating: 32, count: spaces) + name + [UInt8(ascii: ":")]
        text += wanted.isEmpty ? Array(" []\n".utf8) : [10]
        text += Self.written(wanted.map(\.node), indent: spaces + 2)
        return text + self.lines[end...].flatMap { $0 }
    }

    /// The line with the list's name, without an empty value after it if there are rules now.
    private func keyLine(_ region: Region, isEmpty: Bool) -> [UInt8] {
        let line = self.lines[region.key]
        guard region.starts.isEmpty, !isEmpty, let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
            return Self.ended(Array(line))
        }
        let comment = line[colon...].firstIndex(of: UInt8(ascii: "#"))
        let kept: [UInt8] = comment.map { [32] + Array(line[$0...]) } ?? [10]
        return Self.ended(Array(line[...colon]) + kept)
    }

    /// The last line of a file may have no end.
    private static func ended(_ line: [UInt8]) -> [UInt8] { line.last == 10 ? line : line + [10] }
}
