extension MessageEdit {
    /// The indices of the rules whose edits these are.
    package var rules: [Int] {
        var rules: [Int] = []
        for step in self.steps where !rules.contains(step.rule) { rules.append(step.rule) }
        return rules
    }
}

extension ExchangePlan {
    /// No rule applies.
    package static let none = ExchangePlan()
}
