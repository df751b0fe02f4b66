internal import CassetteFormat
internal import CassetteModel
internal import TapeBytes

/// Finds the values in JSON that rules and exceptions refer to by pointers and paths: in a single text, in several that follow each other,
/// in lines, and in the data of events.
///
/// A text that is cut or broken is searched as far as it goes; the value within which it ends counts as a whole one. Where it is unknown
/// whether an element meets the condition of a rule, because the text ends before its other members, it does.
struct JSONPlaces {
    private struct Container {
        var isObject: Bool
        var index = 0
        var name: String?
        /// Where it began, and the rule that applies to all of it.
        var start: Int
        var kind: String?
        var isKept: Bool
        /// Where the walk along each path that is no pointer stands.
        var states: [[Int]]
    }

    private enum Way {
        case pointer([String])
        /// A number in `paths`.
        case path(Int)

        /// The way to the value in one of several texts; nil if it leads to another.
        func inText(_ number: Int) -> Way? {
            guard case .pointer(let segments) = self, let first = segments.first, first == "*" || first == String(number) else {
                return nil
            }
            return .pointer(Array(segments.dropFirst()))
        }
    }

    struct Found {
        var findings: [Finding] = []
        var kept: [Range<Int>] = []
        /// False if a text stops being JSON at some byte for another reason than being cut, or is nested too deeply.
        var isRead = true

        fileprivate mutating func add(_ other: Found) {
            self.findings += other.findings
            self.kept += other.kept
            self.isRead = self.isRead && other.isRead
        }
    }

    /// How deeply containers may be nested. Parsers have lower limits, so a service that sends deeper JSON would have no clients.
    private static let depthLimit = 4096
    /// How often each byte of a broken text is read again, on average, in search of the next text.
    private static let readLimit = 16

    private let rules: [(way: Way, rule: RedactionRule)]
    private let keep: [Way]
    private let paths: [PlacePath]
    /// Whether each path is that of a rule and not of an exception.
    private let isOfRule: [Bool]
    private let conditions: [PlacePath.Condition]
    /// Where the walk along each path begins.
    private let starts: [[Int]]

    init(_ rules: RedactionRules) {
        var paths: [PlacePath] = []
        func way(_ place: RedactionPlace?) -> Way? {
            switch place {
            case .json(let segments)?: return .pointer(segments)
            case .jsonPath(let path)?:
                paths.append(path)
                return .path(paths.count - 1)
            case _: return nil
            }
        }
        self.rules = rules.rules.compactMap { rule in way(rule.place).map { ($0, rule) } }
        let count = paths.count
        self.keep = rules.keep.compactMap { way($0.place) }
        self.paths = paths
        self.isOfRule = paths.indices.map { $0 < count }
        self.conditions = Array(Set(paths.flatMap(\.conditions)).prefix(UInt64.bitWidth))
        self.starts = paths.map(\.start)
    }

    private init(rules: [(way: Way, rule: RedactionRule)], keep: [Way], starts: [[Int]], of other: JSONPlaces) {
        (self.rules, self.keep, self.starts) = (rules, keep, starts)
        (self.paths, self.isOfRule, self.conditions) = (other.paths, other.isOfRule, other.conditions)
    }

    func findings(in text: UnsafeRawBufferPointer) -> Found {
        let first = text.starts(with: Self.byteOrderMark) ? Self.byteOrderMark.count : 0
        let value = self.value(in: text, from: first)
        guard let end = value.end, Self.isEnd(of: text, from: end) else { return self.findings(inEachOf: text, from: first) }
        return value.found
    }

    private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]
    /// Starts each text of a sequence (RFC 7464, 2.2).
    private static let recordSeparator: UInt8 = 0x1e

    private static func isEnd(of text: UnsafeRawBufferPointer, from offset: Int) -> Bool { text[offset...].allSatisfy { $0 <= 32 } }

    // MARK: Several texts

    /// Reads one text after the other. After one that is broken, the next begins on another line.
    private func findings(inEachOf text: UnsafeRawBufferPointer, from first: Int) -> Found {
        var found = Found()
        let hasLines = ByteScan.index(of: 10, in: text, from: first) < text.count
        let lineEnd: UInt8 = hasLines ? 10 : 13
        var (offset, number) = (first, 0)
        var isStartOfLine = true
        var left = text.count.multipliedReportingOverflow(by: Self.readLimit).partialValue
        while offset < text.count {
            if text[offset] <= 32 {
                isStartOfLine = isStartOfLine && text[offset] != Self.recordSeparator || text[offset] == lineEnd
                offset += 1
                continue
            }
            if isStartOfLine, let event = EventData(text, from: offset, lineEnd: lineEnd) {
                found.add(self.findings(in: event, of: text, &number))
                offset = event.end
                continue
            }
            isStartOfLine = false
            let line = ByteScan.index(of: lineEnd, in: text, from: offset)
            let isContainer = text[offset] == UInt8(ascii: "{") || text[offset] == UInt8(ascii: "[")
            // Once too much was read again, no text may go on over the end of its line.
            let end = isContainer && left > 0 ? text.count : line
            let value = self.numbered(number).value(in: UnsafeRawBufferPointer(rebasing: text[..<end]), from: offset)
            number += 1
            if isContainer { found.add(value.found) } else if value.end != nil { found.add(value.found) }
            if isContainer, let end = value.end {
                offset = end
            } else {
                if isContainer { left -= value.reached - offset }
                offset = line
            }
        }
        if left <= 0 { found.isRead = false }
        return found
    }

    /// With several texts, a rule refers to the value in each of them, or by number to the value in one, as match rules do.
    private func numbered(_ number: Int) -> JSONPlaces {
        JSONPlaces(
            rules: self.rules + self.rules.compactMap { place in place.way.inText(number).map { ($0, place.rule) } },
            keep: self.keep + self.keep.compactMap { $0.inText(number) },
            starts: self.paths.indices.map { index in
                let inText = self.paths[index].next(self.starts[index], name: Array("\(number)".utf8), isMember: false) { _ in false }
                return Array(Set(self.starts[index] + inText)).sorted()
            }, of: self)
    }

    /// The data of an event is one text, on however many lines it stands. Lines that are texts of their own are numbered one by one.
    private func findings(in event: EventData, of text: UnsafeRawBufferPointer, _ number: inout Int) -> Found {
        let places = self.numbered(number)
        if event.lines.count > 1 {
            let data = event.joined(text)
            let (value, isWhole) = data.withUnsafeBytes { bytes in
                let value = places.value(in: bytes, from: 0)
                return (value, value.end.map { Self.isEnd(of: bytes, from: $0) } ?? false)
            }
            let isCut = event.end == text.count && value.found.isRead
            if isWhole || isCut {
                number += event.lines.count
                var found = value.found
                for index in found.findings.indices { found.findings[index].range = event.source(found.findings[index].range) }
                found.kept = found.kept.map(event.source)
                return found
            }
        }
        var found = Found()
        for line in event.lines {
            found.add(
                self.numbered(number).value(in: UnsafeRawBufferPointer(rebasing: text[..<line.upperBound]), from: line.lowerBound).found)
            number += 1
        }
        return found
    }

    // MARK: A text

    private struct Value {
        var found = Found()
        /// Where it ends; nil if it is cut or broken.
        var end: Int?
        /// How far it was read.
        var reached: Int
    }

    /// Reads one value.
    private func value(in text: UnsafeRawBufferPointer, from start: Int) -> Value {
        var tokenizer = JSONTokenizer(text, from: start, depthLimit: Self.depthLimit)
        var stack: [Container] = []
        var value = Value(reached: start)
        var last: JSONToken.Kind?
        let elements = self.conditions.isEmpty ? nil : ElementConditions(text, from: start, self.conditions, depthLimit: Self.depthLimit)
        while let token = tokenizer.next() {
            last = token.kind
            value.reached = token.end
            switch token.kind {
            case .end, .colon: continue
            case .comma:
                if let last = stack.indices.last { stack[last].index += 1 }
                continue
            case .name:
                if let last = stack.indices.last {
                    let name = UnsafeRawBufferPointer(rebasing: text[(token.start + 1)..<(token.end - 1)])
                    stack[last].name = Finding.Spelling.json.decode(name).map { String(decoding: $0, as: UTF8.self) }
                }
                continue
            case .beginObject, .beginArray:
                let met = elements?.met[token.start] ?? 0
                let states = self.states(stack, met, isOpen: elements?.open.contains(token.start) ?? false)
                let (kind, isKept) = self.meaning(stack, states)
                stack.append(
                    Container(isObject: token.kind == .beginObject, start: token.start, kind: kind, isKept: isKept, states: states))
                continue
            case .endObject, .endArray:
                if let container = stack.popLast(), container.isKept { value.found.kept.append(container.start..<token.end) }
            case .string:
                self.take(token.start + 1..<token.end - 1, .json, text, stack, &value.found)
            case .number:
                self.take(token.start..<token.end, .number, text, stack, &value.found)
            case .yes, .no, .null: break
            }
            guard !stack.isEmpty else {
                value.end = token.end
                return value
            }
        }
        value.found.isRead = tokenizer.endsEarly
        if let range = Self.openString(in: text, from: value.reached, after: last, isInArray: stack.last?.isObject == false) {
            self.take(range, .json, text, stack, &value.found)
        }
        return value
    }

    /// The string within which a text ends or is broken, as by a line end in it; nil if there is none, or it is a member's name.
    private static func openString(
        in text: UnsafeRawBufferPointer, from end: Int, after last: JSONToken.Kind?, isInArray: Bool
    ) -> Range<Int>? {
        switch last {
        case nil, .colon?, .beginArray?: break
        case .comma? where isInArray: break
        case _: return nil
        }
        guard let quote = text[end...].firstIndex(where: { $0 > 32 }), text[quote] == UInt8(ascii: "\"") else { return nil }
        var offset = quote + 1
        while offset < text.count, text[offset] != UInt8(ascii: "\"") { offset += text[offset] == UInt8(ascii: "\\") ? 2 : 1 }
        return quote + 1..<min(offset, text.count)
    }

    private func take(
        _ range: Range<Int>, _ spelling: Finding.Spelling, _ text: UnsafeRawBufferPointer, _ stack: [Container], _ found: inout Found
    ) {
        let states = self.states(stack, 0, isOpen: false)
        let (kind, isKept) = self.meaning(stack, states)
        if isKept {
            found.kept.append(range)
        } else {
            found.findings += self.findings(text, range, spelling, kind, stack, states)
        }
    }

    private func findings(
        _ text: UnsafeRawBufferPointer, _ range: Range<Int>, _ spelling: Finding.Spelling, _ kind: String?, _ stack: [Container],
        _ states: [[Int]]
    ) -> [Finding] {
        let value = UnsafeRawBufferPointer(rebasing: text[range])
        guard !value.isEmpty, !Placeholder.isAll(value), !value.elementsEqual([48]) else { return [] }
        if let kind {
            // A string that is broken may end within an escape.
            let secret = spelling.decode(value) ?? Array(value)
            return [Finding(kind: kind, range: range, secret: secret, spelling: spelling, isRuled: true)]
        }
        return self.rules.filter { $0.rule.pattern != nil && self.matches($0.way, stack, states) }.flatMap { item in
            item.rule.findings(in: value, spelling: spelling).map { finding in
                var finding = finding
                finding.range = finding.range.lowerBound + range.lowerBound..<finding.range.upperBound + range.lowerBound
                return finding
            }
        }
    }

    /// Where the walk along each path stands at the next value.
    ///
    /// - Parameters:
    ///   - met: the conditions that it meets.
    ///   - isOpen: whether the others are unknown.
    private func states(_ stack: [Container], _ met: UInt64, isOpen: Bool) -> [[Int]] {
        guard !self.paths.isEmpty else { return [] }
        guard let container = stack.last else { return self.starts }
        let name = Array((container.isObject ? container.name ?? "" : String(container.index)).utf8)
        return self.paths.indices.map { index in
            self.paths[index].next(container.states[index], name: name, isMember: container.isObject) { condition in
                if isOpen, self.isOfRule[index] { return true }
                return self.conditions.firstIndex(of: condition).map { met & (1 << UInt64($0)) != 0 } ?? false
            }
        }
    }

    /// The verdict of the rules on the next value.
    private func meaning(_ stack: [Container], _ states: [[Int]]) -> (kind: String?, isKept: Bool) {
        let isKept = stack.last?.isKept ?? false || self.keep.contains { self.matches($0, stack, states) }
        if let kind = stack.last?.kind { return (kind, isKept) }
        return (self.rules.first { $0.rule.pattern == nil && self.matches($0.way, stack, states) }?.rule.kind, isKept)
    }

    private func matches(_ way: Way, _ stack: [Container], _ states: [[Int]]) -> Bool {
        switch way {
        case .path(let index): return self.paths[index].isEnd(states[index])
        case .pointer(let segments):
            guard segments.count == stack.count else { return false }
            return zip(segments, stack).allSatisfy { segment, container in
                segment == "*" || (container.isObject ? container.name == segment : String(container.index) == segment)
            }
        }
    }
}

/// The lines of an event's data, which belong together (HTML Living Standard, 9.2.6).
private struct EventData {
    /// The data of each line, without the name of the field.
    private(set) var lines: [Range<Int>] = []
    /// Where the last of the lines ends.
    private(set) var end: Int

    /// Nil if no data begins at the offset.
    init?(_ text: UnsafeRawBufferPointer, from start: Int, lineEnd: UInt8) {
        let name = Array("data:".utf8)
        self.end = start
        var offset = start
        while text.count - offset >= name.count, text[offset..<offset + name.count].elementsEqual(name) {
            self.end = ByteScan.index(of: lineEnd, in: text, from: offset)
            self.lines.append(offset + name.count..<self.end)
            offset = self.end + 1
        }
        if self.lines.isEmpty { return nil }
    }

    /// The data, with a line end between two lines.
    func joined(_ text: UnsafeRawBufferPointer) -> [UInt8] { Array(self.lines.map { text[$0] }.joined(separator: [10])) }

    /// Where a range of the data stands in the text. A range over several lines covers what is between them.
    func source(_ range: Range<Int>) -> Range<Int> { self.source(range.lowerBound)..<self.source(range.upperBound) }

    private func source(_ offset: Int) -> Int {
        var rest = offset
        for line in self.lines {
            guard rest > line.count else { return line.lowerBound + rest }
            rest -= line.count + 1
        }
        return self.end
    }
}
