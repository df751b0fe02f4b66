internal import TapeBytes

/// Finds the characters and attributes of an XML document that rules and exceptions refer to by their elements.
///
/// In a document that is cut or broken, finds those before the break.
struct XMLPlaces {
    private struct Element {
        /// The local name, alone and with its index among siblings of that name.
        var names: [String]
        var kind: String?
        var isKept: Bool
        var counts: [String: Int] = [:]
    }

    private let rules: [(segments: [String], rule: RedactionRule)]
    private let keep: [[String]]

    init(_ rules: RedactionRules) {
        self.rules = rules.rules.compactMap { rule in
            if case .xml(let segments) = rule.place { (segments, rule) } else { nil }
        }
        self.keep = rules.keep.compactMap { if case .xml(let segments)? = $0.place { segments } else { nil } }
    }

    func findings(in text: UnsafeRawBufferPointer) -> (findings: [Finding], kept: [Range<Int>]) {
        var reader = XMLReader(text)
        var (findings, kept): ([Finding], [Range<Int>]) = ([], [])
        guard text.first(where: { $0 > 32 && $0 < 0x80 }) == UInt8(ascii: "<") else { return (findings, kept) }
        var stack: [Element] = []
        var counts: [String: Int] = [:]
        var characters: [UInt8] = []
        func take(_ range: Range<Int>, _ names: [String]) {
            let isKept = stack.last?.isKept ?? false || self.keep.contains { Self.matches($0, stack, names) }
            guard !isKept else { return kept.append(range) }
            let kind = stack.last?.kind ?? self.rules.first { $0.rule.pattern == nil && Self.matches($0.segments, stack, names) }?.rule.kind
            findings += self.findings(text, range, kind, stack, names)
        }
        while let token = reader.next(&characters) {
            characters.removeAll(keepingCapacity: true)
            switch token {
            case .start(let name, let attributes):
                let local = String(decoding: text[name.local], as: UTF8.self)
                let number = (stack.last?.counts[local] ?? counts[local] ?? 0) + 1
                if let last = stack.indices.last { stack[last].counts[local] = number } else { counts[local] = number }
                let names = [local, "\(local)[\(number)]"]
                let isKept = stack.last?.isKept ?? false || self.keep.contains { Self.matches($0, stack, names) }
                let kind =
                    stack.last?.kind ?? self.rules.first { $0.rule.pattern == nil && Self.matches($0.segments, stack, names) }?.rule.kind
                stack.append(Element(names: names, kind: kind, isKept: isKept))
                for attribute in attributes {
                    take(attribute.range, ["@" + String(decoding: text[attribute.name.local], as: UTF8.self), "@*"])
                }
            case .end: stack.removeLast()
            case .text: take(reader.textRange, ["text()"])
            case .instruction, .documentType: continue
            case .endOfDocument: return (findings, kept)
            }
        }
        return (findings, kept)
    }

    private func findings(
        _ text: UnsafeRawBufferPointer, _ range: Range<Int>, _ kind: String?, _ stack: [Element], _ names: [String]
    ) -> [Finding] {
        var range = range
        while let first = range.first, text[first] <= 32 { range.removeFirst() }
        while let last = range.last, text[last] <= 32 { range.removeLast() }
        let value = UnsafeRawBufferPointer(rebasing: text[range])
        guard !value.isEmpty, !Placeholder.isAll(value) else { return [] }
        if let kind { return [Finding(kind: kind, range: range, secret: Array(value), spelling: .plain, isRuled: true)] }
        // A pattern for an element applies to its characters.
        let matching = self.rules.filter { item in
            guard item.rule.pattern != nil else { return false }
            if Self.matches(item.segments, stack, names) { return true }
            guard names[0] == "text()", let last = stack.last else { return false }
            return Self.matches(item.segments, Array(stack.dropLast()), last.names)
        }
        return matching.flatMap { item in
            item.rule.findings(in: value).map { finding in
                var finding = finding
                finding.range = finding.range.lowerBound + range.lowerBound..<finding.range.upperBound + range.lowerBound
                return finding
            }
        }
    }

    /// - Parameter names: the names of a node in the innermost element of the stack; a rule may use any of them.
    private static func matches(_ segments: [String], _ stack: [Element], _ names: [String]) -> Bool {
        let isElement = !(names[0].hasPrefix("@") || names[0] == "text()")
        func fits(_ segment: String, _ node: Int) -> Bool {
            if node < stack.count { return segment == "*" || stack[node].names.contains(segment) }
            return names.contains(segment) || isElement && segment == "*"
        }
        // `**` is any number of elements: the last one before a mismatch takes one more.
        var (segment, node) = (0, 0)
        var retry: (segment: Int, node: Int)?
        while node <= stack.count {
            if segment < segments.count, segments[segment] == "**" {
                segment += 1
                retry = (segment, node)
            } else if segment < segments.count, fits(segments[segment], node) {
                segment += 1
                node += 1
            } else if let last = retry, last.node < stack.count || isElement {
                node = last.node + 1
                segment = last.segment
                retry = (segment, node)
            } else {
                return false
            }
        }
        return segments[segment...].allSatisfy { $0 == "**" }
    }
}
