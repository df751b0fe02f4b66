/// Writes a replay's report for people: what went wrong, each with its next step, and one line of numbers at the end.
struct ReplayReportText {
    /// So many unused exchanges are named; the rest is counted.
    static let unusedLimit = 20

    private let report: ReplayReport

    static func lines(_ report: ReplayReport) -> [String] {
        self.flawLines(report, naming: Set(VerdictFlaw.allCases)) + [self.numbers(report)]
    }

    /// Lines without line ends; a miss has several.
    static func flawLines(_ report: ReplayReport, naming flaws: Set<VerdictFlaw>) -> [String] {
        ReplayReportText(report: report).flawLines(flaws)
    }

    static func numbers(_ report: ReplayReport) -> String { ReplayReportText(report: report).numbers }

    private init(report: ReplayReport) {
        self.report = report
    }

    private func flawLines(_ flaws: Set<VerdictFlaw>) -> [String] {
        var lines: [String] = []
        for flaw in [VerdictFlaw.miss, .order, .unserved, .unused, .damage] where flaws.contains(flaw) { self.add(flaw, to: &lines) }
        return lines
    }

    private func add(_ flaw: VerdictFlaw, to lines: inout [String]) {
        let verdict = self.report.verdict
        switch flaw {
        case .miss:
            lines += verdict.reports.map { "miss: \($0.description)" }
            self.addRest(verdict.unreportedMisses, "more miss", "more misses", to: &lines)
        case .unused:
            lines += verdict.unused.prefix(Self.unusedLimit).map { index in
                let request = self.report.exchanges.indices.contains(index) ? self.report.exchanges[index].request : ""
                return "unused: exchange \(index + 1), \"\(request)\""
            }
            self.addRest(verdict.unused.count - Self.unusedLimit, "more unused", "more unused", to: &lines)
        case .order:
            lines += verdict.violations.map { "order: \($0.description)" }
            self.addRest(verdict.orderViolations - verdict.violations.count, "more out of order", "more out of order", to: &lines)
        case .unserved:
            lines += verdict.unservedAnswers.map { "not served: \($0.description)" }
            self.addRest(verdict.unserved - verdict.unservedAnswers.count, "more not served", "more not served", to: &lines)
        case .damage:
            if let damage = verdict.damage { lines.append("damaged: \(damage)") }
        }
    }

    private func addRest(_ count: Int, _ one: String, _ many: String, to lines: inout [String]) {
        if count > 0 { lines.append("and \(count) \(count == 1 ? one : many)") }
    }

    private var numbers: String {
        let verdict = self.report.verdict
        let answerable = self.report.exchanges.count { $0.answers != nil }
        var text = "replayed \(verdict.hits) of \(answerable) \(answerable == 1 ? "exchange" : "exchanges") from \(self.report.cassette)"
        if verdict.repeatedHits > 0 { text += ", \(verdict.repeatedHits) of them again" }
        if verdict.forwarded > 0 { text += ", \(verdict.forwarded) forwarded" }
        if verdict.misses > 0 { text += ", \(verdict.misses) \(verdict.misses == 1 ? "miss" : "misses")" }
        if !verdict.unused.isEmpty { text += ", \(verdict.unused.count) unused" }
        if verdict.orderViolations > 0 { text += ", \(verdict.orderViolations) out of order" }
        if verdict.unserved > 0 { text += ", \(verdict.unserved) not served" }
        return text
    }
}
