internal import CassetteModel
public import CassetteStore
public import TapeBytes

/// What came of a replay, exchange by exchange: the source of its text, its JSON and its JUnit XML.
///
/// All strings in it are plain text, escaped and short. Writes no files.
public struct ReplayReport: Sendable, Hashable {
    /// A recorded exchange.
    public struct Exchange: Sendable, Hashable {
        /// Its id in the cassette's file.
        public var id: Int
        /// Method and URL as plain text.
        public var request: String
        /// How often it has answered; nil for a tunnel that did not come about, which answers nothing.
        public var answers: Int?
        /// When it began, of one that was not used: whoever prunes by the report knows by it that it is the same exchange.
        public var started: Timestamp?

        public init(id: Int, request: String, answers: Int?, started: Timestamp? = nil) {
            self.started = started
            self.id = id
            self.request = request
            self.answers = answers
        }
    }

    /// The version of the JSON.
    public static let version = 1

    /// The cassette's path or name, as it is to be shown.
    public var cassette: String
    public var mode: RecordMode
    public var repetition: Repetition
    public var order: ReplayOrder
    public var verdict: Verdict
    /// In order of request start: the index of an exchange is its place in this.
    public var exchanges: [Exchange]

    public init(
        cassette: String, mode: RecordMode, repetition: Repetition = .never, order: ReplayOrder = .any, verdict: Verdict,
        exchanges: [Exchange]
    ) {
        self.cassette = cassette
        self.mode = mode
        self.repetition = repetition
        self.order = order
        self.verdict = verdict
        self.exchanges = exchanges
    }
}

extension ReplayReport {
    /// For people: what went wrong, each with its next step, and one line of numbers at the end. No line ends.
    public var lines: [String] { ReplayReportText.lines(self) }

    /// For people: what went wrong of some kinds, each with its next step. A miss has several lines in its one string.
    public func flawLines(naming flaws: Set<VerdictFlaw>) -> [String] { ReplayReportText.flawLines(self, naming: flaws) }

    /// For people: one line of numbers without a full stop.
    public var numbers: String { ReplayReportText.numbers(self) }

    /// As docs/replay-report.md says, in UTF-8.
    public var json: [UInt8] { ReplayReportJSON.bytes(self) }

    /// For continuous integration, in UTF-8: a test case for each exchange and for each thing that went wrong.
    ///
    /// - Parameter failOn: what is a failure; other flaws are told as skipped.
    public func junit(failOn: Set<VerdictFlaw> = Set(VerdictFlaw.allCases)) -> [UInt8] {
        ReplayReportJUnit.bytes(self, failOn: failOn)
    }
}

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

/// Writes a replay's report as JUnit XML: a test case for each exchange, and for each thing that went wrong with no exchange of its own.
///
/// Keeps to what all readers of that format know: `testsuites`, `testsuite`, `testcase`, `failure`, `error` and `skipped`.
struct ReplayReportJUnit {
    private enum Result {
        case passed
        case failure(VerdictFlaw, String)
        case error(VerdictFlaw, String)
        case skipped(String)
    }

    private let report: ReplayReport
    private let failOn: Set<VerdictFlaw>
    private var cases = ""
    private var tests = 0
    private var failures = 0
    private var errors = 0
    private var skipped = 0

    /// - Parameter failOn: other flaws are told as skipped.
    static func bytes(_ report: ReplayReport, failOn: Set<VerdictFlaw>) -> [UInt8] {
        var junit = ReplayReportJUnit(report: report, failOn: failOn)
        junit.addExchanges()
        junit.addOthers()
        return Array(junit.document.utf8)
    }

    private init(report: ReplayReport, failOn: Set<VerdictFlaw>) {
        self.report = report
        self.failOn = failOn
    }

    private var document: String {
        let counts =
            "tests=\"\(self.tests)\" failures=\"\(self.failures)\" errors=\"\(self.errors)\" skipped=\"\(self.skipped)\" time=\"0\""
        let name = XMLText.escape("replay of \(self.report.cassette)")
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="wiretape" \(counts)>
              <testsuite name="\(name)" \(counts)>
            \(self.cases)  </testsuite>
            </testsuites>

            """
    }

    private mutating func addExchanges() {
        let verdict = self.report.verdict
        let unused = Set(verdict.unused)
        let unserved = Dictionary(
            verdict.unservedAnswers.compactMap { answer in answer.index.map { ($0, answer.problem) } },
            uniquingKeysWith: { first, _ in first })
        for (index, exchange) in self.report.exchanges.enumerated() where exchange.answers != nil {
            let name = "exchange \(index + 1): \(exchange.request)"
            if let problem = unserved[index] {
                self.add(name, .error(.unserved, problem))
            } else if unused.contains(index) {
                self.add(name, .failure(.unused, "no request asked for it: prune it, or look why the program no longer sends it"))
            } else {
                self.add(name, .passed)
            }
        }
    }

    private mutating func addOthers() {
        let verdict = self.report.verdict
        for (number, miss) in verdict.reports.enumerated() {
            self.add("miss \(number + 1): \(miss.request)", .failure(.miss, miss.description))
        }
        self.addRest(verdict.unreportedMisses, .miss, "more misses")
        for (number, violation) in verdict.violations.enumerated() {
            self.add("order \(number + 1): \(violation.request)", .failure(.order, violation.description))
        }
        self.addRest(verdict.orderViolations - verdict.violations.count, .order, "more out of order")
        for (number, answer) in verdict.unservedAnswers.filter({ $0.index == nil }).enumerated() {
            self.add("undecided \(number + 1)", .error(.unserved, answer.description))
        }
        self.addRest(verdict.unserved - verdict.unservedAnswers.count, .unserved, "more answers not served")
        if let damage = verdict.damage { self.add("the cassette is whole", .error(.damage, damage)) }
    }

    /// What a list had no room for is a case, too: a full list must not hide it.
    private mutating func addRest(_ count: Int, _ flaw: VerdictFlaw, _ words: String) {
        guard count > 0 else { return }
        self.add("\(count) \(words)", .failure(flaw, "\(count) \(words) than the report has room for"))
    }

    private mutating func add(_ name: String, _ wanted: Result) {
        var result = wanted
        switch wanted {
        case .failure(let flaw, let text) where !self.failOn.contains(flaw): result = .skipped("\(flaw.rawValue): \(text)")
        case .error(let flaw, let text) where !self.failOn.contains(flaw): result = .skipped("\(flaw.rawValue): \(text)")
        case .passed, .failure, .error, .skipped: break
        }
        self.tests += 1
        self.cases += "    <testcase classname=\"wiretape.replay\" name=\"\(XMLText.escape(name))\" time=\"0\""
        switch result {
        case .passed:
            self.cases += "/>\n"
            return
        case .failure(let flaw, let text):
            self.failures += 1
            self.cases += ">\n      \(Self.element("failure", flaw, text))\n"
        case .error(let flaw, let text):
            self.errors += 1
            self.cases += ">\n      \(Self.element("error", flaw, text))\n"
        case .skipped(let text):
            self.skipped += 1
            self.cases += ">\n      <skipped message=\"\(XMLText.escape(Self.firstLine(text)))\"/>\n"
        }
        self.cases += "    </testcase>\n"
    }

    private static func element(_ name: String, _ flaw: VerdictFlaw, _ text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { XMLText.escape(String($0)) }
        return
            "<\(name) type=\"\(flaw.rawValue)\" message=\"\(XMLText.escape(self.firstLine(text)))\">\(lines.joined(separator: "\n"))</\(name)>"
    }

    private static func firstLine(_ text: String) -> String { String(text.prefix { $0 != "\n" }) }
}
