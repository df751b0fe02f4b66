package import CassettePlayback
internal import TapeBytes
package import TrafficRules

extension RunSettings {
    /// The traffic rules of a run; nil if there are none, and nobody asks for a verdict on the client or may add some.
    ///
    /// Throws for a rule that is wrong, with its file and line.
    ///
    /// - Parameters:
    ///   - match: the match rules of the run, which say what equal requests are.
    ///   - redaction: for URLs that are shown; nil if secrets are recorded, which are not shown even so.
    ///   - mayGetRules: whether rules may be added during the run.
    package func ruleEngine(match: MatchRules, redaction: RedactionRules? = nil, mayGetRules: Bool = false) throws(SettingSyntaxError)
        -> RuleEngine?
    {
        var rules = try TrafficRules(self[Settings.modify].map(\.value))
        // The command line overrides a seed that a list has.
        if self[Settings.seed]?.source == .commandLine { rules = rules.withoutSeeds }
        guard !rules.isEmpty || self.value(Settings.verdict) != nil || mayGetRules else { return nil }
        let drawn = match.drawing(redacted: !self.value(Settings.redaction) ? [] : self[Settings.redact].map(\.value))
        return RuleEngine(rules, seed: self.value(Settings.seed), match: drawn, redaction: redaction ?? .standard) { DrawnURL.of($0) }
    }
}
