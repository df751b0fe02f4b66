/// Takes what is met while a plan is carried out, for the report of its rules.
///
/// Finds the rules by their names: the list may have been replaced since the plan was made.
package struct RuleNotes: Sendable {
    private let engine: RuleEngine
    private let plan: ExchangePlan

    package init(_ engine: RuleEngine, _ plan: ExchangePlan) {
        self.engine = engine
        self.plan = plan
    }

    /// - Parameter rule: its index in the plan.
    package func add(rule: Int, _ text: String) { self.engine.note(self.plan, rule: rule, text) }

    /// Something that is to be known, though the rule does what it says.
    package func remark(rule: Int, _ text: String) { self.engine.note(self.plan, rule: rule, text, isRemark: true) }

    package func add(_ notes: [EditNote]) { for note in notes { self.add(rule: note.rule, note.text) } }
}
