public import CassetteModel
public import CassettePlayback
public import CassetteRedaction
public import CassetteStore
public import TapeBytes
public import TapeRecorder

/// The files that a run reads and writes, and the rules by which it compares, determined before anything is written.
///
/// Reads the cassette; `OpenCassette` starts the run.
public struct RunPlan: Sendable {
    /// The options of a run in addition to its file and mode. A cassette's own rules come first: `matchTexts` and `redaction` add to them.
    public struct Options: Sendable {
        public var matchTexts = MatchRuleTexts()
        /// Files with the names of gRPC message fields, or folders of such files (`DescriptorFiles`).
        public var descriptors: [String] = []
        /// Evaluated last, for requests that are equal under all other rules.
        public var customMatches: [CustomMatch] = []
        /// What is redacted in a recording; nil to keep secrets.
        public var redaction: RedactionRules? = .standard
        public var repetition: Repetition = .never
        /// Whether an exchange may answer any number of times; nil for those that say so themselves. May read bodies from disk.
        public var repeats: (@Sendable (Interaction, BodyReader) throws -> Bool)?
        public var order: ReplayOrder = .any
        public var conversationOrder: ConversationOrder = .strict
        public var ranges: RangeReplay = .computed
        /// Whether an exchange that its client left answers in its turn, even if a complete one could.
        public var keepsLeft = false
        /// The places of dates in JSON bodies that are moved along with those of header fields; nil to move no dates.
        public var refreshedFields: [String]?
        /// The age from which `onExpired` applies; nil if a cassette may have any age.
        public var maxAge: Age?
        public var onExpired: ExpiryPolicy = .warn
        /// Whether an expired cassette may be recorded again: false for a run that cannot reach an origin.
        public var mayRerecord = false
        /// What to do about an expired cassette; nil for the command line's advice.
        public var remedy: String?
        /// Further members for the head of a new cassette, after its match rules.
        public var headMembers: [UnknownMember] = []
        /// The reader of the next step of a miss.
        public var audience: MissReport.Audience = .commandLine

        public init() {}
    }

    /// The cassette is too old to be replayed.
    public struct Expired: Error {
        public var message: String
    }

    /// The file and how it is used, with the match rules for the head of a cassette that is created.
    public let recording: RecordingPlan
    /// Nil if nothing is replayed.
    public let cassette: RecordedCassette?
    public let rules: MatchRules
    /// What is redacted in the recording. Includes the rules of a cassette that it replaces, as its secrets are still secrets in the new
    /// recording. Nil if secrets are kept.
    public let redaction: RedactionRules?
    /// Redacts live requests like those in the cassette; nil if the cassette's are not redacted.
    public let liveRedactor: LiveRedactor?
    /// Nil if answers keep their recorded dates.
    public let refresh: DateRefresh?
    /// Messages for users before the run starts.
    public let notices: [String]
    /// The reason why the cassette is too old, if it is replayed nevertheless.
    public let expiry: String?
    public let options: Options

    /// - Parameter now: the start of the run, from which ages are measured, and to which dates are moved.
    ///
    /// Throws `Expired`, `CassetteError` and `MatchRuleError`.
    public init(_ path: String, mode: RecordMode, options: Options = Options(), now: Timestamp = .now) throws {
        try OpenedCassettes.report(path)
        // The recording is next to the link's target and replaces that, not the link.
        let target = CassettePlace.followed(path)
        var recording = try RecordingPlan(path: target, mode: mode, exists: CassettePlace.exists(path, for: mode))
        var cassette = recording.replays ? try RecordedCassette(path: path) : nil
        var notices: [String] = []
        var expiry: String?
        notices += CassettePlace.leftRecordings(beside: path).map { $0.notice }
        notices += cassette?.notices ?? []
        if let problem = Self.expiry(of: cassette, options.maxAge, now: now) {
            let advice = "\(problem): \(options.remedy ?? "record it again with \"wiretape record \(path) -- COMMAND\"")."
            switch options.onExpired {
            case .rerecord where options.mayRerecord:
                recording = try RecordingPlan(path: target, mode: .all, exists: true)
                cassette = nil
                notices.append("\(problem): it is recorded again.")
            case .fail: throw Expired(message: advice)
            case .warn, .rerecord:
                expiry = problem
                notices.append(advice)
            }
        }
        let replaces = recording.target == .replace
        let own = replaces ? try RecordedCassette.matchTexts(ofFile: path) : try cassette?.matchTexts()
        let texts = (own ?? MatchRuleTexts()).adding(options.matchTexts)
        var rules = try MatchRules.standard.adding(texts)
        rules.custom = options.customMatches
        rules.schema = try DescriptorFiles.schema(options.descriptors)
        recording.schema = rules.schema
        switch recording.target {
        case .create, .stage, .replace: recording.headMembers = [texts.headMember].compactMap { $0 } + options.headMembers
        case .nothing, .append: break
        }
        self.recording = recording
        self.cassette = cassette
        self.rules = rules
        self.redaction = try options.redaction.map { given in
            try (replaces ? RecordedCassette.redactionRules(ofFile: path) : nil)?.adding(given) ?? given
        }
        self.liveRedactor = try Self.liveRedactor(of: cassette, adding: self.redaction)
        self.refresh = try options.refreshedFields.map { fields in
            DateRefresh(try RefreshRules(fields), shift: DateShift(from: cassette?.firstStart ?? now, to: now))
        }
        self.notices = notices
        self.expiry = expiry
        self.options = options
    }

    private static func liveRedactor(of cassette: RecordedCassette?, adding rules: RedactionRules?) throws(CassetteError) -> LiveRedactor? {
        guard let own = try cassette?.redactionRules() else { return nil }
        return LiveRedactor(Redactor(rules: rules.map { own.adding($0) } ?? own))
    }

    /// Nil if the cassette is not too old. A cassette without exchanges has no age.
    private static func expiry(of cassette: RecordedCassette?, _ limit: Age?, now: Timestamp) -> String? {
        guard let cassette, let limit, let start = cassette.firstStart else { return nil }
        let age = Age(seconds: (now.microseconds - start.microseconds) / 1_000_000)
        guard age.seconds > limit.seconds else { return nil }
        return "the cassette \"\(cassette.path)\" is \(age.words) old, which is more than the allowed \(limit.words)"
    }
}
