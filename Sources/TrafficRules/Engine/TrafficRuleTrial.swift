/// What one rule would do with a request, and why.
package struct TrafficRuleTrial: Sendable, Hashable {
    package enum Outcome: Sendable, Hashable {
        case applies
        /// The rule is switched off.
        case off
        /// The smallest part of `when` that does not hold.
        case unmatched(String)
        /// An earlier rule, by its name, has taken what this one would do.
        case preceded(by: String)
        /// `when` holds, and the rule's numbers, shares, times or quotas do not: why, in words.
        case notDrawn(String)
    }

    /// The index of the rule.
    package var rule: Int
    package var name: String
    package var kind: TrafficRule.Kind
    /// The text of `when`; nil for all requests.
    package var condition: String?
    package var place: TrafficRule.Place
    package var outcome: Outcome
}

extension TrafficRules {
    /// What each rule would do with a request, the first of its kind in a run, and why.
    package func trial(
        _ request: RequestFacts, seed: UInt64 = 0, redactURL: @escaping @Sendable (String) -> String = { $0 }
    ) -> [TrafficRuleTrial] {
        RuleEngine(self, seed: seed, redactURL: redactURL).trial(of: request).trials
    }
}
