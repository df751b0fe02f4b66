internal import CassetteModel
internal import TapeBytes
internal import TapeExchange
internal import TrafficRules

/// The traffic rules: whatever a list says and whatever an answer has, the rules are read or refused, and do the same each time.
///
/// An input is a list of rules in JSON, a byte 0, and the body of a request and of its answer.
package enum RulesTarget: FuzzTarget {
    private static let types = [
        "application/json", "text/event-stream",
    ]

    package static func run(_ input: UnsafeRawBufferPointer) throws {
        let parts = input.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
        guard let document = try? JSONDocument(Array(parts[0])) else { return }
        let list = RuleList(node: RuleNode(document.root), file: "rules", folder: nil)
        guard let rules = try? TrafficRules([list]) else { return }
        let body = parts.count > 1 ? Array(parts[1]) : []
        for type in self.types {
            let (first, second) = (self.outcome(rules, type, body), self.outcome(rules, type, body))
            try self.expect(first == second, "the same rules do two things")
        }
    }

    private static func outcome(_ rules: TrafficRules, _ type: String, _ body: [UInt8]) -> [String] {
        var headers = HeaderFields()
        headers.append(name: "Host", value: "h.test")
        headers.append(name: "Content-Type", value: type)
        let facts = RequestFacts(method: "POST", url: "http://h.test/a?b=1", headers: headers, body: body)
        let engine = RuleEngine(rules)
        var outcome: [String] = []
        for second in 0..<3 {
            guard let plan = engine.plan(for: facts, now: .seconds(second)) else { continue }
            outcome.append("\(plan.names)")
            let notes = RuleNotes(engine, plan)
            if let edit = plan.requestEdit {
                var head = RequestHeadFacts(method: "POST", url: facts.url, headers: headers)
                let (edited, _) = edit.apply(to: &head, body: body)
                outcome.append("\(head.method) \(head.url) \(edited)")
            }
            outcome += self.answer(plan, notes, type, body)
        }
        return outcome + engine.report().map(\.description)
    }

    private static func answer(_ plan: ExchangePlan, _ notes: RuleNotes, _ type: String, _ body: [UInt8]) -> [String] {
        var editing = plan.responseEdit.map { AnswerEditing<Never>($0, method: "POST", notes: notes) }
        var breaking = plan.fault.map { AnswerBreaking<Never>($0, method: "POST", notes: notes) }
        var fields = HeaderFields()
        fields.append(name: "Content-Type", value: type)
        fields.append(name: "Content-Length", value: "\(body.count)")
        var items: [AnswerStep<Never>] = [
            .head(ResponseHead(version: .http11, status: 200, reason: [], fields: fields), .length(body.count))
        ]
        for start in stride(from: 0, to: body.count, by: 7) { items.append(.data(Array(body[start..<min(start + 7, body.count)]))) }
        items.append(.end(.finished(HeaderFields(), NeverIndexed())))
        return items.flatMap { item in
            (editing?.put(item) ?? [item]).flatMap { breaking?.put($0) ?? [$0] }
        }.map { "\($0)" }
    }
}
