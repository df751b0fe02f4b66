/// What the rules make of one exchange, in the order of the effects.
package struct ExchangePlan: Sendable {
    /// The indices of the rules that apply, in their order of effect, and their names.
    package var rules: [Int] = []
    package var names: [String] = []
    /// Nothing else of the plan is set then.
    package var block: Block?
    package var target: MappedTarget?
    package var requestEdit: MessageEdit?
    package var pausesRequest: Pause?
    package var answer: LocalAnswer?
    /// Whether the answer of `block` or `answer` is recorded.
    package var records = false
    package var responseEdit: MessageEdit?
    package var pausesResponse: Pause?
    package var pausesEvents: Pause?
    package var pausesMessages: Pause?
    package var pace: Pace?
    package var fault: Fault?
}

/// What became of one rule.
package struct RuleReport: Sendable, Hashable {
    package var name: String
    package var kind: TrafficRule.Kind
    /// The text of `when`; nil for all requests.
    package var condition: String?
    package var place: TrafficRule.Place
    package var isOn: Bool
    /// Requests for which `when` held.
    package var matched: Int
    /// Of these, those that the rule changed.
    package var applied: Int
    /// Of those that matched, those for which the rule's numbers, shares, times or quotas held. All of them if it has none.
    package var drawn: Int
    /// Of those that matched, those that an earlier rule had taken.
    package var preceded: Int
    /// What was met, each once.
    package var notes: [String]

    package var neverMatched: Bool { self.isOn && self.matched == 0 }
}
