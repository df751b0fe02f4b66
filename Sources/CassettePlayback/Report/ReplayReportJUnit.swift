internal import TapeBytes

/// Writes the report of a replay as JUnit XML: a test case for each exchange, and for each problem that has no exchange of its own.
///
/// Uses only the elements that all readers of the format support: `testsuites`, `testsuite`, `testcase`, `failure`, `error` and `skipped`.
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

    /// - Parameter failOn: other flaws are reported as skipped.
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
        let unsent = Dictionary(
            verdict.unsentMessages.map { ($0.index, $0.description) }, uniquingKeysWith: { first, _ in first })
        let unserved = Dictionary(
            verdict.unservedAnswers.compactMap { answer in answer.index.map { ($0, answer.problem) } },
            uniquingKeysWith: { first, _ in first })
        for (index, exchange) in self.report.exchanges.enumerated() where exchange.answers != nil {
            let name = "exchange \(index + 1): \(exchange.request)"
            if let problem = unserved[index] {
                self.add(name, .error(.unserved, problem))
            } else if let unsent = unsent[index] {
                self.add(name, .failure(.unused, unsent))
            } else if unused.contains(index) {
                self.add(name, .failure(.unused, "no request used it: prune it, or find out why the program no longer sends the request"))
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
        self.addRest(verdict.unsent - verdict.unsentMessages.count, .unused, "more conversations in part")
        if verdict.isUnasked { self.add("a request came", .failure(.unasked, ReplayReportText.unasked(self.report))) }
        if let damage = verdict.damage { self.add("the cassette is whole", .error(.damage, damage)) }
    }

    /// Entries omitted from a full list become a test case as well, so that they do not go unnoticed.
    private mutating func addRest(_ count: Int, _ flaw: VerdictFlaw, _ words: String) {
        guard count > 0 else { return }
        self.add("\(count) \(words)", .failure(flaw, "\(count) \(words), omitted from the report"))
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
