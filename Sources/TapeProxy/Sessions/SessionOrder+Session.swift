internal import TapeCore

extension SessionOrder {
    /// The session that decides as it was ordered.
    ///
    /// - Throws: `MatchRuleError` for rules that cannot be understood, `CassetteError` for requests that cannot be read.
    func session(for cassette: RecordedCassette?) throws -> Session {
        let rules = self.rules.isEmpty ? nil : try MatchRules.standard.adding(self.rules)
        return try Session(
            mode: self.mode, cassette: cassette, rules: rules, repetition: self.repetition, order: self.replayOrder,
            digest: { FastSHA256() })
    }
}
