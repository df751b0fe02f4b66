import TapeBytes
import Testing
@testable import TrafficRules

@Suite struct RuleReportTests {
    private static let rules = """
        - name: pay
          when: "~u /pay"
          fault: { status: 503, first: 1, share: 100%, after: 0s, for: 60s }
        - when: "~u /never"
          block: 403
        - name: off
          enabled: false
          block: 403
        - name: late
          when: "~u /pay"
          fault: { kind: reset, nth: [1, 3], every: 2, count: rule }
        - name: all
          pace: dsl
        """

    private func engine() throws -> RuleEngine {
        let engine = try RulesText.engine(Self.rules)
        let plans = (0..<2).map { _ in engine.plan(for: .get("https://a.example/pay"), now: .seconds(1)) }
        if let plan = plans[0] { engine.note(plan, rule: 0, "a note") }
        return engine
    }

    @Test func eachRuleHasALine() throws {
        #expect(
            try self.engine().report().map(\.description) == [
                "\"pay\" matched 2 requests and was applied to 1 (share 100%, first 1, from 0s on for 60s)",
                "\"rule 2\" never matched: no request fits \"~u /never\" (\"wiretape.yaml\" line 4)", "\"off\" is switched off",
                "\"late\" matched 2 requests and was applied to 0 (nth 1, 3, every 2, of the rule); an earlier rule took 1",
                "\"all\" matched 2 requests and was applied to 2",
            ])
        let none = try RulesText.engine("- pace: dsl").report()[0]
        #expect(none.description == "\"rule 1\" never matched: no request came (\"wiretape.yaml\" line 1)")
    }

    @Test func reportsAreJSON() throws {
        var writer = JSONWriter()
        try self.engine().report()[0].write(into: &writer)
        #expect(
            String(decoding: writer.bytes, as: UTF8.self) == """
                { "name": "pay", "kind": "fault", "when": "~u /pay", "file": "wiretape.yaml", "line": 1, "enabled": true, \
                "draw": "share 100%, first 1, from 0s on for 60s", "matched": 2, "applied": 1, "drawn": 1, "preceded": 0, \
                "notes": ["a note"] }
                """)
    }

    /// Its answer or edits came to nothing.
    @Test(arguments: [
        ("{ status: 503, first: 1 }", 1), ("{ kind: close, first: 1 }", 1), ("{ kind: timeout, first: 1 }", 1),
        ("{ kind: dns, first: 1 }", 1),
        ("{ kind: cut, first: 1 }", 0), ("{ kind: close, after: 1KiB, first: 1 }", 0), ("{ grpc: INTERNAL, first: 1 }", 0),
    ]) func aRuleWhoseAnswerAFaultTookThePlaceOfIsNotApplied(fault: String, displaced: Int) throws {
        let engine = try RulesText.engine(
            "- { name: map, mapRemote: \"http://b.example\" }\n- { name: edit, response: { status: 201 } }\n"
                + "- { name: answer, respond: { body: hi } }\n- { name: pace, pace: dsl }\n- { name: fault, fault: \(fault) }")
        for _ in 0..<2 { _ = engine.plan(for: .get("http://a.example/"), now: .zero) }
        let counts = displaced == 1 ? "matched 2, applied to 1, 1 displaced by a fault." : "matched 2, applied to 2."
        #expect(
            engine.report().flatMap { RuleLines.lines(of: $0) }.map(\.text) == [
                "rule \"map\": \(counts)", "rule \"edit\": \(counts)", "rule \"answer\": \(counts)",
                "rule \"pace\": matched 2, applied to 2.", "rule \"fault\": matched 2, applied to 1, 1 not drawn.",
            ])
        #expect(engine.report().map(\.displaced) == [displaced, displaced, displaced, 0, 0])
    }

    @Test func rulesThatWereReplacedAreStillReported() throws {
        let engine = try self.engine()
        engine.replace(try RulesText.rules("- { name: late, when: '~u /pay', block: 403 }\n- { name: all, pace: dsl }"))
        let reports = engine.report()
        #expect(reports.map(\.name) == ["late", "all", "pay", "late"])
        #expect(reports.map(\.isRetired) == [false, false, true, true])
        #expect(reports.map(\.matched) == [0, 2, 2, 2])
        #expect(
            RuleLines.lines(of: reports[2]).map(\.text) == [
                "rule \"pay\", until it was replaced: matched 2, applied to 1, 1 not drawn.",
                "rule \"pay\", until it was replaced: a note.",
            ])
        engine.replace(try RulesText.rules("[]"))
        #expect(engine.report().map(\.name) == ["pay", "late", "all"])
    }
}
