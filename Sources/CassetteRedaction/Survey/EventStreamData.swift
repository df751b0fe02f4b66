internal import TapeBytes

/// Finds secrets in the events of an event stream whose data is a text of several lines: each has `data:` before it, which the client
/// removes (HTML Living Standard, 9.2.6).
///
/// Lines alone are found by the survey of the whole text. A value that itself is divided is not found. Also finds data under the name of
/// its event: `event: token`.
struct EventStreamData {
    /// The lines' contents, joined by line ends.
    private var joined: [UInt8] = []
    /// Where each line begins, in the joined text and in the stream.
    private var lines: [(joined: Int, source: Int)] = []
    /// The name of the event.
    private var name: Range<Int>?

    /// Whether a content without a media type begins like an event stream.
    static func mayBegin(_ content: UnsafeRawBufferPointer) -> Bool {
        ["data:", "event:", "id:", "retry:"].contains { content.starts(with: $0.utf8) }
    }

    /// - Parameter hasMore: whether the stream continues after these bytes.
    static func findings(in text: UnsafeRawBufferPointer, hasMore: Bool, budget: SearchBudget?) -> [Finding] {
        var findings: [Finding] = []
        var event = EventStreamData()
        var line = 0
        while line < text.count {
            let feed = ByteScan.index(of: 10, in: text, from: line)
            let end = feed > line && text[feed - 1] == 13 ? feed - 1 : feed
            if end == line {
                findings += event.findings(in: text, hasMore: false, budget: budget)
                event = EventStreamData()
            } else {
                event.add(text, line..<end)
            }
            line = feed + 1
        }
        return findings + event.findings(in: text, hasMore: hasMore, budget: budget)
    }

    private mutating func add(_ text: UnsafeRawBufferPointer, _ line: Range<Int>) {
        if text[line].starts(with: "event:".utf8) { self.name = Self.value(text, line.lowerBound + 6..<line.upperBound) }
        guard text[line].starts(with: "data:".utf8) else { return }
        let start = Self.value(text, line.lowerBound + 5..<line.upperBound).lowerBound
        if !self.lines.isEmpty { self.joined.append(10) }
        self.lines.append((self.joined.count, start))
        self.joined.append(contentsOf: text[start..<line.upperBound])
    }

    /// The value after a field's colon, without the blank before it.
    private static func value(_ text: UnsafeRawBufferPointer, _ range: Range<Int>) -> Range<Int> {
        range.first.map { text[$0] == 32 } == true ? range.dropFirst() : range
    }

    /// The data of an event with a secret's name, if it is one line that looks like a token.
    private func named(in text: UnsafeRawBufferPointer) -> [Finding] {
        guard let name = self.name, name.count <= SecretNames.lengthLimit, self.lines.count == 1,
            let meaning = SecretNames.meaning(of: text[name]), !meaning.needsCompany, let line = self.lines.first
        else { return [] }
        let range = line.source..<line.source + self.joined.count
        guard NamedValue.looksLikeToken(UnsafeRawBufferPointer(rebasing: text[range])) else { return [] }
        return NamedValue.finding(in: text, range, meaning, .plain).map { [$0] } ?? []
    }

    private func findings(in text: UnsafeRawBufferPointer, hasMore: Bool, budget: SearchBudget?) -> [Finding] {
        if !hasMore, self.name != nil { return self.named(in: text) + self.divided(in: text, hasMore: false, budget: budget) }
        return self.divided(in: text, hasMore: hasMore, budget: budget)
    }

    private func divided(in text: UnsafeRawBufferPointer, hasMore: Bool, budget: SearchBudget?) -> [Finding] {
        guard self.lines.count > 1,
            budget?.spend(work: SearchBudget.costOfText + self.joined.count * SearchBudget.costOfEscapedByte) != false
        else { return [] }
        return self.joined.withUnsafeBytes { joined in
            let plain = TextSurvey.survey(joined, hasMore: hasMore, budget: budget).findings
            let escaped = EscapeView(joined).map { view in
                view.bytes.withUnsafeBytes { TextSurvey.survey($0, hasMore: hasMore, isView: true, budget: budget).findings }.map {
                    self.moved($0, to: view.source($0.range))
                }
            }
            return (plain + (escaped ?? [])).compactMap(self.inStream)
        }
    }

    private func moved(_ finding: Finding, to range: Range<Int>) -> Finding {
        var moved = finding
        (moved.range, moved.count) = (range, nil)
        return moved
    }

    /// The finding at its place in the stream; nil if it extends over several lines.
    private func inStream(_ finding: Finding) -> Finding? {
        guard finding.count == nil, !self.joined[finding.range].contains(10) else { return nil }
        var (low, high) = (0, self.lines.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if self.lines[middle].joined <= finding.range.lowerBound { low = middle } else { high = middle }
        }
        let line = self.lines[low]
        let start = line.source + finding.range.lowerBound - line.joined
        return self.moved(finding, to: start..<start + finding.range.count)
    }
}
