package import CassetteModel
package import CassettePlayback
package import CassetteRedaction

/// What requests are compared by, and what stands in the head of a new recording: settings laid over what the cassette says of itself.
///
/// The same for the proxy and for the client.
package struct CassettePlan {
    /// With the match rules in the head of a cassette that is made.
    package let recording: RecordingPlan
    /// Nil where nothing is replayed.
    package let cassette: RecordedCassette?
    package let rules: MatchRules
    /// The rules of redaction of the cassette that the recording replaces: what was a secret there is one in the new one. Nil where
    /// nothing is replaced, or nothing was redacted.
    package let replacedRedaction: RedactionRules?

    /// Throws `CassetteError` and `MatchRuleError`.
    package init(_ recording: RecordingPlan, cassette: RecordedCassette?, matchTexts: MatchRuleTexts) throws {
        let replaces = recording.target == .replace
        let own = replaces ? try RecordedCassette.matchTexts(ofFile: recording.path) : try cassette?.matchTexts()
        self.replacedRedaction = replaces ? try RecordedCassette.redactionRules(ofFile: recording.path) : nil
        let texts = (own ?? MatchRuleTexts()).adding(matchTexts)
        self.rules = try MatchRules.standard.adding(texts)
        var recording = recording
        switch recording.target {
        case .create, .replace: recording.headMembers = [texts.headMember].compactMap { $0 }
        case .nothing, .append: break
        }
        self.recording = recording
        self.cassette = cassette
    }

    /// Live requests are compared as the cassette's were kept; nil where those are as they came.
    ///
    /// - Parameter rules: of the run, beside the cassette's own.
    package func liveRedactor(adding rules: RedactionRules?) throws(CassetteError) -> LiveRedactor? {
        guard let own = try self.cassette?.redactionRules() else { return nil }
        return LiveRedactor(Redactor(rules: rules.map { own.adding($0) } ?? own))
    }
}
