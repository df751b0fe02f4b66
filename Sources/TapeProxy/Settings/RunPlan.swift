public import TapeCore
public import TapeRecorder

/// What a run reads, writes and compares by: settled before it listens.
///
/// Opens the cassette; starts nothing.
public struct RunPlan {
    /// A cassette that is too old to be replayed.
    public struct Expired: Error {
        public var message: String
    }

    public let recording: RecordingPlan
    /// Nil where nothing is replayed.
    public let cassette: RecordedCassette?
    public let rules: MatchRules
    /// The rules of redaction of the cassette that this run replaces: what was a secret there is one in the new recording. Nil where
    /// nothing is replaced, or nothing was redacted.
    public let replacedRedaction: RedactionRules?
    /// What people should know before the run begins.
    public let notices: [String]
    /// That the cassette is older than it may be, where it is replayed all the same.
    public let expiry: String?

    /// - Parameters:
    ///   - mayRecord: false for a command that reaches no network.
    ///   - remedy: what to do about a cassette that is too old; nil for that of the command line.
    ///
    /// Throws `Expired`, `CassetteError` and `MatchRuleError`.
    public init(file: String, mode: RecordMode, settings: RunSettings, mayRecord: Bool, now: Timestamp, remedy: String? = nil) throws {
        var recording = try RecordingPlan(path: file, mode: mode, exists: CassettePlace.exists(file))
        var cassette = recording.replays ? try RecordedCassette(path: file) : nil
        var notices: [String] = []
        var expiry: String?
        if let damage = cassette?.damage { notices.append(damage.summary + ".") }
        if let problem = Self.expiry(of: cassette, settings.maxAge?.value, now: now) {
            let advice = "\(problem): \(remedy ?? "record it anew with \"wiretape record \(file) -- COMMAND\"")."
            switch settings.onExpiredInForce {
            case .rerecord where mayRecord:
                recording = try RecordingPlan(path: file, mode: .all, exists: true)
                cassette = nil
                notices.append("\(problem): it is recorded anew.")
            case .fail: throw Expired(message: advice)
            case .warn, .rerecord:
                expiry = problem
                notices.append(advice)
            }
        }
        let own = recording.target == .replace ? try RecordedCassette.matchTexts(ofFile: file) : try cassette?.matchTexts()
        self.replacedRedaction = recording.target == .replace ? try RecordedCassette.redactionRules(ofFile: file) : nil
        let texts = (own ?? MatchRuleTexts()).adding(settings.matchTexts)
        self.rules = try MatchRules.standard.adding(texts)
        switch recording.target {
        case .create, .replace: recording.headMembers = [texts.headMember].compactMap { $0 }
        case .nothing, .append: break
        }
        self.recording = recording
        self.cassette = cassette
        self.notices = notices
        self.expiry = expiry
    }

    /// Live requests are compared as the cassette's were kept; nil where those are as they came.
    ///
    /// - Parameter rules: of the run, beside the cassette's own.
    public func liveRedactor(adding rules: RedactionRules?) throws(CassetteError) -> LiveRedactor? {
        guard let own = try self.cassette?.redactionRules() else { return nil }
        return LiveRedactor(Redactor(rules: rules.map { own.adding($0) } ?? own))
    }

    /// Nil where a cassette is not too old. One without exchanges has no age.
    private static func expiry(of cassette: RecordedCassette?, _ limit: Age?, now: Timestamp) -> String? {
        guard let cassette, let limit, let start = cassette.firstStart else { return nil }
        let age = Age(seconds: (now.microseconds - start.microseconds) / 1_000_000)
        guard age.seconds > limit.seconds else { return nil }
        return "the cassette \"\(cassette.path)\" is \(age.words) old, and may be \(limit.words)"
    }
}
