internal import CassetteModel
public import CassetteStore
public import TapeBytes

/// The result of a replay, exchange by exchange, from which its text, JSON and JUnit XML are written.
///
/// All strings are plain text, escaped and short. Writes no files.
public struct ReplayReport: Sendable, Hashable {
    public struct Exchange: Sendable, Hashable {
        /// The id in the cassette's file.
        public var id: Int
        /// Method and URL as plain text.
        public var request: String
        /// How often it has answered; nil for a tunnel that was not established, which cannot answer.
        public var answers: Int?
        /// When it began, if it was not used. `prune` uses this to recognise the exchange.
        public var started: Timestamp?

        public init(id: Int, request: String, answers: Int?, started: Timestamp? = nil) {
            self.started = started
            self.id = id
            self.request = request
            self.answers = answers
        }
    }

    /// What became of a traffic rule, or what the client did with answers that failed.
    public struct Check: Sendable, Hashable {
        public enum Kind: String, Sendable, Hashable, CaseIterable { case rule, client }

        public var kind: Kind
        public var name: String
        /// What is wrong; empty if nothing is.
        public var problems: [String]
        /// The check as an object of JSON, on one line.
        public var json: [UInt8]

        public init(kind: Kind, name: String, problems: [String], json: [UInt8]) {
            self.kind = kind
            self.name = name
            self.problems = problems
            self.json = json
        }
    }

    /// The version of the JSON format.
    public static let version = 1

    /// The cassette's path or name, as displayed.
    public var cassette: String
    public var mode: RecordMode
    public var repetition: Repetition
    public var order: ReplayOrder
    public var verdict: Verdict
    /// In order of request start. The position of an exchange is its index elsewhere.
    public var exchanges: [Exchange]
    /// Empty without traffic rules and without a verdict on the client.
    public var checks: [Check] = []
    /// The names of reasons besides the flaws of its verdict why the run is not clean, such as `escapes`.
    package var otherFlaws: [String] = []

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
    /// Text for people: each problem with its next step, and a final line of numbers. Without line ends.
    public var lines: [String] { ReplayReportText.lines(self) }

    /// Text for people: problems of the given kinds only, each with its next step. A miss is one string of several lines.
    public func flawLines(naming flaws: Set<VerdictFlaw>) -> [String] { ReplayReportText.flawLines(self, naming: flaws) }

    /// Text for people: one line of numbers without a full stop.
    public var numbers: String { ReplayReportText.numbers(self) }

    /// In the format of docs/replay-report.md, in UTF-8.
    public var json: [UInt8] { ReplayReportJSON.bytes(self) }

    /// For continuous integration, in UTF-8: a test case for each exchange and for each problem.
    ///
    /// - Parameters:
    ///   - failOn: the flaws that count as failures; others are reported as skipped.
    ///   - failingChecks: the same for traffic rules and the verdict on the client.
    public func junit(
        failOn: Set<VerdictFlaw> = Set(VerdictFlaw.allCases), failingChecks: Set<Check.Kind> = Set(Check.Kind.allCases)
    ) -> [UInt8] {
        ReplayReportJUnit.bytes(self, failOn: failOn, failingChecks: failingChecks)
    }
}

extension CassetteSession {
    /// The result of the replay so far.
    ///
    /// - Parameters:
    ///   - name: the cassette's name as displayed.
    ///   - cassette: the cassette that the session was created with.
    public func report(name: String, cassette: RecordedCassette?) -> ReplayReport {
        let (verdict, answered) = self.verdictAndAnswers()
        let exchanges = answered.enumerated().map { index, count in
            ReplayReport.Exchange(
                id: cassette?.id(at: index) ?? index + 1, request: self.text(ofExchange: index),
                answers: count == AssignmentRule.unanswerable ? nil : Int(count), started: count == 0 ? cassette?.start(at: index) : nil)
        }
        return ReplayReport(
            cassette: PlainText.escape(name.utf8, limit: MissReport.requestLimit), mode: self.mode, repetition: self.repetition,
            order: self.order, verdict: verdict, exchanges: exchanges)
    }
}

/// Writes the report of a replay for people: each problem with its next step, and a final line of numbers.
struct ReplayReportText {
    /// At most this many unused exchanges are listed; the rest are counted.
    private static let unusedLimit = 20

    private let report: ReplayReport

    static func lines(_ report: ReplayReport) -> [String] {
        self.flawLines(report, naming: Set(VerdictFlaw.allCases)) + [self.numbers(report)]
    }

    /// Strings without a final line end; a miss has several lines.
    static func flawLines(_ report: ReplayReport, naming flaws: Set<VerdictFlaw>) -> [String] {
        ReplayReportText(report: report).flawLines(flaws)
    }

    static func numbers(_ report: ReplayReport) -> String { ReplayReportText(report: report).numbers }

    private init(report: ReplayReport) {
        self.report = report
    }

    private func flawLines(_ flaws: Set<VerdictFlaw>) -> [String] {
        var lines: [String] = []
        for flaw in [VerdictFlaw.miss, .order, .unserved, .unused, .unasked, .damage] where flaws.contains(flaw) {
            self.add(flaw, to: &lines)
        }
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
            lines += verdict.unsentMessages.map { "not sent: \($0.description)" }
            self.addRest(verdict.unsent - verdict.unsentMessages.count, "more not sent", "more not sent", to: &lines)
        case .order:
            lines += verdict.violations.map { "order: \($0.description)" }
            self.addRest(verdict.orderViolations - verdict.violations.count, "more out of order", "more out of order", to: &lines)
        case .unserved:
            lines += verdict.unservedAnswers.map { "not served: \($0.description)" }
            self.addRest(verdict.unserved - verdict.unservedAnswers.count, "more not served", "more not served", to: &lines)
        case .damage:
            if let damage = verdict.damage { lines.append("damaged: \(damage)") }
        case .unasked:
            if verdict.isUnasked { lines.append("unasked: \(Self.unasked(self.report))") }
            if verdict.isAnsweredByRulesAlone { lines.append("rules: \(Self.answeredByRules(self.report))") }
        }
    }

    static func unasked(_ report: ReplayReport) -> String {
        "no request came for \(self.exchanges(report)), so the replay proves nothing"
    }

    static func answeredByRules(_ report: ReplayReport) -> String {
        let count = report.verdict.answeredByRules
        return
            "traffic rules answered \(count == 1 ? "the only request" : "all \(count) requests"), so the replay proves nothing about \(self.exchanges(report))"
    }

    private static func exchanges(_ report: ReplayReport) -> String {
        let count = report.exchanges.count { $0.answers != nil }
        return "\(count == 1 ? "the exchange" : "the \(count) exchanges") in \"\(report.cassette)\""
    }

    private func addRest(_ count: Int, _ one: String, _ many: String, to lines: inout [String]) {
        if count > 0 { lines.append("and \(count) \(count == 1 ? one : many)") }
    }

    private var numbers: String {
        let verdict = self.report.verdict
        let answerable = self.report.exchanges.count { $0.answers != nil }
        var text = "replayed \(verdict.hits) of \(answerable) \(answerable == 1 ? "exchange" : "exchanges") from \(self.report.cassette)"
        if verdict.repeatedHits > 0 { text += ", \(verdict.repeatedHits) of them again" }
        if verdict.computed > 0 { text += ", \(verdict.computed) computed" }
        if verdict.forwarded > 0 { text += ", \(verdict.forwarded) forwarded" }
        if verdict.unreached > 0 { text += ", \(verdict.unreached) not forwarded because their origin was not reached" }
        if verdict.answeredByRules > 0 { text += ", \(verdict.answeredByRules) answered by rules" }
        if verdict.misses > 0 { text += ", \(verdict.misses) \(verdict.misses == 1 ? "miss" : "misses")" }
        if !verdict.unused.isEmpty { text += ", \(verdict.unused.count) unused" }
        if verdict.unsent > 0 { text += ", \(verdict.unsent) in part" }
        if verdict.orderViolations > 0 { text += ", \(verdict.orderViolations) out of order" }
        if verdict.unserved > 0 { text += ", \(verdict.unserved) not served" }
        return text
    }
}
