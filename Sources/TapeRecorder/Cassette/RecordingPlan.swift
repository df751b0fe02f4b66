public import CassetteModel
package import CassettePlayback
package import CassetteRedaction
public import CassetteStore
public import TapeBytes

/// Which file is read and which is written, for a record mode.
///
/// Accesses no file.
public struct RecordingPlan: Sendable, Hashable {
    public enum Target: Sendable, Hashable {
        case nothing
        /// A new cassette under its own name.
        case create
        /// A new cassette beside the old one, which replaces it on a clean close.
        case replace
        /// More exchanges after the existing ones.
        case append
    }

    public var path: String
    public var mode: RecordMode
    /// Whether recorded exchanges are replayed.
    public var replays: Bool
    public var target: Target
    /// Further members for the head of a new cassette, such as its match rules.
    public var headMembers: [UnknownMember] = []

    /// - Throws: `notFound` if the mode needs a cassette and there is none.
    public init(path: String, mode: RecordMode, exists: Bool) throws(CassetteError) {
        self.path = path
        self.mode = mode
        switch mode {
        case .none:
            guard exists else {
                throw CassetteError(
                    .notFound,
                    "there is no cassette \"\(path)\": record one with \"wiretape record \(path) -- COMMAND\".")
            }
            self.replays = true
            self.target = .nothing
        case .once:
            self.replays = exists
            self.target = exists ? .nothing : .create
        case .newEpisodes:
            self.replays = exists
            self.target = exists ? .append : .create
        case .all:
            self.replays = false
            self.target = exists ? .replace : .create
        case .passthrough:
            self.replays = false
            self.target = .nothing
        }
    }
}

/// The match rules of a run and the head of its new recording: the cassette's own settings plus those of the run.
///
/// The same for the proxy and the client.
package struct CassettePlan {
    /// Has the match rules among the members for the head of a new cassette.
    package let recording: RecordingPlan
    /// Nil if nothing is replayed.
    package let cassette: RecordedCassette?
    package let rules: MatchRules
    /// The redaction rules of the cassette that the recording replaces: they apply to the new one too. Nil if nothing is replaced, or
    /// nothing was redacted.
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

    /// Redacts live requests so that they compare equal to the cassette's; nil if those are not redacted.
    ///
    /// - Parameter rules: those of the run, added to the cassette's own.
    package func liveRedactor(adding rules: RedactionRules?) throws(CassetteError) -> LiveRedactor? {
        guard let own = try self.cassette?.redactionRules() else { return nil }
        return LiveRedactor(Redactor(rules: rules.map { own.adding($0) } ?? own))
    }
}
