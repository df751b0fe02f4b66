import CassetteModel
import TapeExchange
import Testing
@testable import TrafficRules

/// Edits of answers, step by step.
@Suite struct AnswerEditingTests {
    /// A body with a content coding may decode to any size.
    @Test(arguments: [
        (65_536, [], false), (65_537, [], true), (30, ["Content-Encoding: identity, gzip"], true), (0, ["Content-Encoding: gzip"], false),
    ])
    func aLongBodyIsEditedElsewhere(size: Int, fields: [String], isLong: Bool) throws {
        let engine = try RulesText.engine("- { name: x, response: { replace: { in: body, match: ^A, with: B } } }")
        let plan = try #require(engine.plan(for: .get("http://a.example/"), now: .zero))
        let notes = RuleNotes(engine, plan)
        var editing = AnswerEditing<Never>(try #require(plan.responseEdit), method: "GET", notes: notes)
        let head = ResponseHead(version: .http11, status: 200, reason: [], fields: HeaderFields(fields))
        for step: AnswerStep<Never> in [.head(head, .length(size)), .data([UInt8](repeating: 65, count: size))] {
            #expect(editing.longEdit(before: step) == nil)
            #expect(editing.put(step).isEmpty)
        }
        let end = AnswerStep<Never>.end(.finished(HeaderFields(), NeverIndexed()))
        let edit = editing.longEdit(before: end)
        #expect((edit != nil) == isLong)
        let steps = (edit?() ?? []) + editing.put(end)
        guard case .head(_, .length(size)) = steps.first, case .end(.finished) = steps.last else {
            Issue.record("\(steps)")
            return
        }
        guard size > 0, case .data(let sent) = steps[1] else { return }
        // Thirty letters are not gzip.
        #expect(sent.first == UInt8(ascii: fields.isEmpty ? "B" : "A"))
        #expect(engine.report().flatMap(\.notes).isEmpty == fields.isEmpty)
    }

    /// What came of a body before it was cut is not edited, however long it is.
    @Test func aCutBodyIsNotEditedElsewhere() throws {
        let engine = try RulesText.engine("- { name: x, response: { replace: { in: body, match: ^A, with: B } } }")
        let plan = try #require(engine.plan(for: .get("http://a.example/"), now: .zero))
        var editing = AnswerEditing<Never>(try #require(plan.responseEdit), method: "GET", notes: RuleNotes(engine, plan))
        _ = editing.put(.head(ResponseHead(version: .http11, status: 200, reason: [], fields: HeaderFields()), .length(200_000)))
        _ = editing.put(.data([UInt8](repeating: 65, count: 100_000)))
        #expect(editing.longEdit(before: .end(.cut)) == nil)
        #expect(editing.put(.end(.cut)).count == 3)
    }
}
