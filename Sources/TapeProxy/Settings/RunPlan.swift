public import TapeBytes
public import CassetteModel
public import CassettePlayback
public import CassetteRedaction
public import CassetteStore
public import TapeRecorder

/// What a run reads, writes and compares by: settled before it listens.
///
/// Opens the cassette; starts nothing.
public struct RunPlan {
    /// A cassette that is too old to be replayed.
    public struct Expired: Error {
        public var message: String
    }

    private let plan: CassettePlan
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
        let plan = try CassettePlan(recording, cassette: cassette, matchTexts: settings.matchTexts)
        self.plan = plan
        self.notices = notices
        self.expiry = expiry
    }

    public var recording: RecordingPlan { self.plan.recording }
    /// Nil where nothing is replayed.
    public var cassette: RecordedCassette? { self.plan.cassette }
    public var rules: MatchRules { self.plan.rules }
    /// The rules of redaction of the cassette that this run replaces: what was a secret there is one in the new recording. Nil where
    /// nothing is replaced, or nothing was redacted.
    public var replacedRedaction: RedactionRules? { self.plan.replacedRedaction }

    /// Live requests are compared as the cassette's were kept; nil where those are as they came.
    ///
    /// - Parameter rules: of the run, beside the cassette's own.
    public func liveRedactor(adding rules: RedactionRules?) throws(CassetteError) -> LiveRedactor? {
        try self.plan.liveRedactor(adding: rules)
    }

    /// Nil where a cassette is not too old. One without exchanges has no age.
    private static func expiry(of cassette: RecordedCassette?, _ limit: Age?, now: Timestamp) -> String? {
        guard let cassette, let limit, let start = cassette.firstStart else { return nil }
        let age = Age(seconds: (now.microseconds - start.microseconds) / 1_000_000)
        guard age.seconds > limit.seconds else { return nil }
        return "the cassette \"\(cassette.path)\" is \(age.words) old, and may be \(limit.words)"
    }
}
