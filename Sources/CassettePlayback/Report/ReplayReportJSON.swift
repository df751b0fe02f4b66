internal import CassetteModel
internal import TapeBytes

/// Writes a replay's report as JSON, in the format of docs/replay-report.md.
struct ReplayReportJSON {
    private let report: ReplayReport
    private var writer = JSONWriter()

    /// The whole text, with a final line end.
    static func bytes(_ report: ReplayReport) -> [UInt8] {
        var json = ReplayReportJSON(report: report)
        json.write()
        return json.writer.bytes + [10]
    }

    private init(report: ReplayReport) {
        self.report = report
    }

    private mutating func write() {
        let verdict = self.report.verdict
        self.writer.beginObject(.lines)
        self.number("wiretapeReport", ReplayReport.version)
        self.string("cassette", self.report.cassette)
        self.string("mode", self.report.mode.rawValue)
        self.string("repeat", self.report.repetition.rawValue)
        self.string("order", self.report.order.rawValue)
        self.writer.member("clean")
        let flaws = verdict.flaws.map(\.rawValue) + self.report.otherFlaws
        self.writer.bool(flaws.isEmpty)
        self.strings("flaws", flaws)
        self.number("exchanges", self.report.exchanges.count)
        self.number("hits", verdict.hits)
        self.number("repeatedHits", verdict.repeatedHits)
        self.number("forwarded", verdict.forwarded)
        self.number("unreached", verdict.unreached)
        self.number("answeredByRules", verdict.answeredByRules)
        self.number("misses", verdict.misses)
        self.number("unused", verdict.unused.count)
        self.number("orderViolations", verdict.orderViolations)
        self.number("unserved", verdict.unserved)
        self.number("unsent", verdict.unsent)
        self.number("computed", verdict.computed)
        if let damage = verdict.damage { self.string("damage", damage) }
        self.list("missed", verdict.reports) { $0.miss($1) }
        self.list("outOfOrder", verdict.violations) { $0.violation($1) }
        self.list("notServed", verdict.unservedAnswers) { $0.unserved($1) }
        self.list("notSent", verdict.unsentMessages) { $0.unsent($1) }
        self.strings("computedAnswers", verdict.computedAnswers)
        self.list("unusedExchanges", verdict.unused) { json, index in
            json.writer.beginObject(.inline)
            json.exchange(index)
            if json.report.exchanges.indices.contains(index), let started = json.report.exchanges[index].started {
                json.string("started", started.formatted)
            }
            json.writer.endObject()
        }
        for (kind, name) in [(ReplayReport.Check.Kind.rule, "rules"), (.client, "client")] as [(ReplayReport.Check.Kind, StaticString)] {
            let checks = self.report.checks.filter { $0.kind == kind }
            guard !checks.isEmpty else { continue }
            self.list(name, checks) { $0.writer.raw($1.json) }
        }
        self.writer.endObject()
    }

    private mutating func miss(_ miss: MissReport) {
        self.writer.beginObject(.lines)
        self.string("request", miss.request)
        self.string("reason", miss.reason.name)
        self.list("nearest", miss.nearest) { json, near in
            json.writer.beginObject(.lines)
            json.exchange(near.index)
            json.writer.member("usedUp")
            json.writer.bool(near.isUsedUp)
            json.strings("differences", near.differences.map(\.description))
            json.writer.endObject()
        }
        let rules = miss.rules
        self.strings("ignore", rules.ignore)
        if !rules.patterns.isEmpty { self.strings("patterns", rules.patterns) }
        if !rules.sort.isEmpty { self.strings("sort", rules.sort) }
        self.string("next", miss.nextStep)
        self.writer.endObject()
    }

    private mutating func violation(_ violation: OrderViolation) {
        self.writer.beginObject(.lines)
        self.exchange(violation.index)
        self.writer.member("refused")
        self.writer.bool(violation.isRefused)
        self.writer.member("other")
        self.writer.beginObject(.inline)
        self.exchange(violation.other)
        self.writer.endObject()
        self.string("text", violation.description)
        self.writer.endObject()
    }

    private mutating func unserved(_ answer: UnservedAnswer) {
        self.writer.beginObject(.lines)
        if let index = answer.index { self.exchange(index) }
        self.string("problem", answer.problem)
        self.writer.endObject()
    }

    private mutating func unsent(_ messages: UnsentMessages) {
        self.writer.beginObject(.lines)
        self.exchange(messages.index)
        self.number("sent", messages.sent)
        self.number("recorded", messages.recorded)
        self.writer.endObject()
    }

    /// Writes the members that identify an exchange.
    private mutating func exchange(_ index: Int) {
        self.number("exchange", index + 1)
        guard self.report.exchanges.indices.contains(index) else { return }
        self.number("id", self.report.exchanges[index].id)
        self.string("request", self.report.exchanges[index].request)
    }

    // MARK: Members

    private mutating func number(_ name: StaticString, _ value: Int) {
        self.writer.member(name)
        self.writer.integer(value)
    }

    private mutating func string(_ name: StaticString, _ value: String) {
        self.writer.member(name)
        self.writer.string(value)
    }

    private mutating func strings(_ name: StaticString, _ values: [String]) {
        self.list(name, values, .inline) { $0.writer.string($1) }
    }

    private mutating func list<Element>(
        _ name: StaticString, _ elements: [Element], _ layout: JSONWriter.Layout = .lines, _ write: (inout Self, Element) -> Void
    ) {
        self.writer.member(name)
        self.writer.beginArray(layout)
        for element in elements {
            self.writer.element()
            write(&self, element)
        }
        self.writer.endArray()
    }
}
