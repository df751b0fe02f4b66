internal import TapeBytes

/// Finds the values of a JSON text that rules and exceptions name by pointers.
struct JSONPlaces {
    private struct Container {
        var isObject: Bool
        var index = 0
        var name: String?
        /// Where it began, and what holds for all of it.
        var start: Int
        var kind: String?
        var isKept: Bool
    }

    private let rules: [(segments: [String], rule: RedactionRule)]
    private let keep: [[String]]

    init(_ rules: RedactionRules) {
        self.rules = rules.rules.compactMap { rule in
            if case .json(let segments) = rule.place { (segments, rule) } else { nil }
        }
        self.keep = rules.keep.compactMap { if case .json(let segments)? = $0.place { segments } else { nil } }
    }

    /// What is found in a text, or in each of its lines where it is not one JSON text: lines of JSON, data of events. Of a text that is cut
    /// or broken, what stands in front of the break.
    func findings(in text: UnsafeRawBufferPointer) -> (findings: [Finding], kept: [Range<Int>]) {
        var (findings, kept, isWhole) = self.values(of: text, from: 0)
        guard !isWhole else { return (findings, kept) }
        let found = Set(findings.map(\.range))
        var start = 0
        while start < text.count {
            let end = ByteScan.index(of: 10, in: text, from: start)
            let line = UnsafeRawBufferPointer(rebasing: text[..<end])
            let values = self.values(of: line, from: Self.startOfData(line, from: start))
            findings += values.findings.filter { !found.contains($0.range) }
            if values.isWhole { kept += values.kept }
            start = end + 1
        }
        return (findings, kept)
    }

    /// Behind the name of an event's field (HTML Living Standard, 9.2.6).
    private static func startOfData(_ line: UnsafeRawBufferPointer, from start: Int) -> Int {
        let name = Array("data:".utf8)
        return line.count - start > name.count && line[start..<start + name.count].elementsEqual(name) ? start + name.count : start
    }

    private func values(
        of text: UnsafeRawBufferPointer, from start: Int
    ) -> (findings: [Finding], kept: [Range<Int>], isWhole: Bool) {
        var tokenizer = JSONTokenizer(text, from: start)
        var stack: [Container] = []
        var findings: [Finding] = []
        var kept: [Range<Int>] = []
        while let token = tokenizer.next() {
            switch token.kind {
            case .end: return (findings, kept, true)
            case .colon: continue
            case .comma:
                if let last = stack.indices.last { stack[last].index += 1 }
            case .name:
                if let last = stack.indices.last {
                    let name = UnsafeRawBufferPointer(rebasing: text[(token.start + 1)..<(token.end - 1)])
                    stack[last].name = Finding.Spelling.json.decode(name).map { String(decoding: $0, as: UTF8.self) }
                }
            case .beginObject, .beginArray:
                let (kind, isKept) = self.meaning(stack)
                stack.append(Container(isObject: token.kind == .beginObject, start: token.start, kind: kind, isKept: isKept))
            case .endObject, .endArray:
                if let container = stack.popLast(), container.isKept { kept.append(container.start..<token.end) }
            case .string, .number:
                let (kind, isKept) = self.meaning(stack)
                let isString = token.kind == .string
                let range = isString ? token.start + 1..<token.end - 1 : token.start..<token.end
                if isKept {
                    kept.append(range)
                } else {
                    findings += self.findings(text, range, isString ? .json : .number, kind, stack)
                }
            case .yes, .no, .null: continue
            }
        }
        return (findings, kept, false)
    }

    private func findings(
        _ text: UnsafeRawBufferPointer, _ range: Range<Int>, _ spelling: Finding.Spelling, _ kind: String?, _ stack: [Container]
    ) -> [Finding] {
        let value = UnsafeRawBufferPointer(rebasing: text[range])
        guard !value.isEmpty, range.count <= TextSurvey.valueLimit, !Placeholder.isWhole(value), !value.elementsEqual([48]) else {
            return []
        }
        if let kind {
            guard let secret = spelling.decode(value) else { return [] }
            return [Finding(kind: kind, range: range, secret: secret, spelling: spelling)]
        }
        return self.rules.filter { $0.rule.pattern != nil && Self.matches($0.segments, stack) }.flatMap { item in
            item.rule.findings(in: value, spelling: spelling).map { finding in
                var finding = finding
                finding.range = finding.range.lowerBound + range.lowerBound..<finding.range.upperBound + range.lowerBound
                return finding
            }
        }
    }

    /// What the rules say about the value that comes next.
    private func meaning(_ stack: [Container]) -> (kind: String?, isKept: Bool) {
        let isKept = stack.last?.isKept ?? false || self.keep.contains { Self.matches($0, stack) }
        if let kind = stack.last?.kind { return (kind, isKept) }
        return (self.rules.first { $0.rule.pattern == nil && Self.matches($0.segments, stack) }?.rule.kind, isKept)
    }

    private static func matches(_ segments: [String], _ stack: [Container]) -> Bool {
        guard segments.count == stack.count else { return false }
        return zip(segments, stack).allSatisfy { segment, container in
            segment == "*" || (container.isObject ? container.name == segment : String(container.index) == segment)
        }
    }
}
