internal import TapeBytes

/// Writes the report of a replay as JUnit XML: a test case for each exchange, and for each problem that has no exchange of its own.
///
/// Uses only the elements that all readers of the format support: `testsuites`, `testsuite`, `testcase`, `failure`, `error` and `skipped`.
struct ReplayReportJUnit {
    private enum Result {
        case passed
        /// The flaw's name, and what is wrong.
        case failure(String, String)
        case error(String, String)
        case skipped(String)
    }

    private let report: ReplayReport
    private let failOn: Set<VerdictFlaw>
    private let failingChecks: Set<ReplayReport.Check.Kind>
    private var cases = ""
    private var tests = 0
    private var failures = 0
    private var errors = 0
    private var skipped = 0

    /// - Parameters:
    ///   - failOn: other flaws are reported as skipped.
    ///   - failingChecks: the same for checks.
    static func bytes(_ report: ReplayReport, failOn: Set<VerdictFlaw>, failingChecks: Set<ReplayReport.Check.Kind>) -> [UInt8] {
        var junit = ReplayReportJUnit(report: report, failOn: failOn, failingChecks: failingChecks)
        junit.addExchanges()
        junit.addOthers()
        junit.addChecks()
        return Array(junit.document.utf8)
    }

    private init(report: ReplayReport, failOn: Set<VerdictFlaw>, failingChecks: Set<ReplayReport.Check.Kind>) {
        self.report = report
        self.failOn = failOn
        self.failingChecks = failingChecks
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
        let unsent = Dictionary(
            verdict.unsentMessages.map { ($0.index, $0.description) }, uniquingKeysWith: { first, _ in first })
        let unserved = Dictionary(
            verdict.unservedAnswers.compactMap { answer in answer.index.map { ($0, answer.problem) } },
            uniquingKeysWith: { first, _ in first })
        for (index, exchange) in self.report.exchanges.enumerated() where exchange.answers != nil {
            let name = "exchange \(index + 1): \(exchange.request)"
            if let problem = unserved[index] {
                self.add(name, self.result(.unserved, problem, .error))
            } else if let unsent = unsent[index] {
                self.add(name, self.result(.unused, unsent))
            } else if unused.contains(index) {
                self.add(
                    name, self.result(.unused, "no request used it: prune it, or find out why the program no longer sends the request"))
            } else {
                self.add(name, .passed)
            }
        }
    }

    private mutating func addOthers() {
        let verdict = self.report.verdict
        for (number, miss) in verdict.reports.enumerated() {
            self.add("miss \(number + 1): \(miss.request)", self.result(.miss, miss.description))
        }
        self.addRest(verdict.unreportedMisses, .miss, "more misses")
        for (number, violation) in verdict.violations.enumerated() {
            self.add("order \(number + 1): \(violation.request)", self.result(.order, violation.description))
        }
        self.addRest(verdict.orderViolations - verdict.violations.count, .order, "more out of order")
        for (number, answer) in verdict.unservedAnswers.filter({ $0.index == nil }).enumerated() {
            self.add("undecided \(number + 1)", self.result(.unserved, answer.description, .error))
        }
        self.addRest(verdict.unserved - verdict.unservedAnswers.count, .unserved, "more answers not served")
        self.addRest(verdict.unsent - verdict.unsentMessages.count, .unused, "more conversations in part")
        if verdict.isUnasked { self.add("a request came", self.result(.unasked, ReplayReportText.unasked(self.report))) }
        if verdict.isAnsweredByRulesAlone {
            self.add("a request reached the cassette", .skipped(ReplayReportText.answeredByRules(self.report)))
        }
        if let damage = verdict.damage { self.add("the cassette is whole", self.result(.damage, damage, .error)) }
    }

    private mutating func addChecks() {
        for check in self.report.checks {
            guard let problem = check.problems.first else {
                self.add(check.name, .passed)
                continue
            }
            let text = check.problems.joined(separator: "\n")
            self.add(check.name, self.failingChecks.contains(check.kind) ? .failure(check.kind.rawValue, text) : .skipped(problem))
        }
    }

    /// Entries omitted from a full list become a test case as well, so that they do not go unnoticed.
    private mutating func addRest(_ count: Int, _ flaw: VerdictFlaw, _ words: String) {
        guard count > 0 else { return }
        self.add("\(count) \(words)", self.result(flaw, "\(count) \(words), omitted from the report"))
    }

    private enum FlawKind { case failure, error }

    /// A flaw that is to fail, or else a skipped test case.
    private func result(_ flaw: VerdictFlaw, _ text: String, _ kind: FlawKind = .failure) -> Result {
        guard self.failOn.contains(flaw) else { return .skipped("\(flaw.rawValue): \(text)") }
        return kind == .failure ? .failure(flaw.rawValue, text) : .error(flaw.rawValue, text)
    }

    private mutating func add(_ name: String, _ result: Result) {
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

    private static func element(_ name: String, _ type: String, _ text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { XMLText.escape(String($0)) }
        return
            "<\(name) type=\"\(type)\" message=\"\(XMLText.escape(self.firstLine(text)))\">\(lines.joined(separator: "\n"))</\(name)>"
    }

    private static func firstLine(_ text: String) -> String { String(text.prefix { $0 != "\n" }) }
}
