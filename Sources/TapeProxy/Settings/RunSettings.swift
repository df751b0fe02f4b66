public import TapeCore

/// What one source, or all of them, say of how a run is to go: nil and empty where they say nothing.
///
/// Each text was checked by whoever put it in.
public struct RunSettings: Sendable, Hashable {
    public var match: Setting<[String]>?
    public var ignore: [Setting<String>] = []
    public var patterns: [Setting<String>] = []
    public var redact: [Setting<String>] = []
    public var keep: [Setting<String>] = []
    /// Names of environment variables whose values are secrets.
    public var secretEnv: [Setting<String>] = []
    /// False keeps secrets in what is recorded.
    public var redaction: Setting<Bool>?
    public var repetition: Setting<Repetition>?
    public var order: Setting<ReplayOrder>?
    public var latency: Setting<String>?
    /// Places of dates in JSON bodies that move with those of header fields; nil where no date moves.
    public var refreshDates: Setting<[String]>?
    public var failOn: Setting<FailureRule>?
    public var maxAge: Setting<Age>?
    public var onExpired: Setting<ExpiryPolicy>?
    public var passthrough: [Setting<HostPattern>] = []
    public var refuse: [Setting<HostPattern>] = []

    /// These with others laid over them: lists add, but for `match`, and the rest replaces.
    public func adding(_ other: RunSettings) -> RunSettings {
        RunSettings(
            match: other.match ?? self.match, ignore: self.ignore + other.ignore, patterns: self.patterns + other.patterns,
            redact: self.redact + other.redact, keep: self.keep + other.keep, secretEnv: self.secretEnv + other.secretEnv,
            redaction: other.redaction ?? self.redaction, repetition: other.repetition ?? self.repetition, order: other.order ?? self.order,
            latency: other.latency ?? self.latency, refreshDates: other.refreshDates ?? self.refreshDates,
            failOn: other.failOn ?? self.failOn, maxAge: other.maxAge ?? self.maxAge, onExpired: other.onExpired ?? self.onExpired,
            passthrough: self.passthrough + other.passthrough, refuse: self.refuse + other.refuse)
    }

    /// What is said of matching.
    public var matchTexts: MatchRuleTexts {
        MatchRuleTexts(match: self.match?.value, ignore: self.ignore.map(\.value), patterns: self.patterns.map(\.value))
    }

    /// A cassette's own rules, as what all else is laid over.
    public init(matchTexts texts: MatchRuleTexts, of cassette: String) {
        self.init()
        let source = SettingSource.cassette(cassette)
        self.match = texts.match.map { Setting(value: $0, source: source) }
        self.ignore = texts.ignore.map { Setting(value: $0, source: source) }
        self.patterns = texts.patterns.map { Setting(value: $0, source: source) }
    }

    public init() {}

    private init(
        match: Setting<[String]>?, ignore: [Setting<String>], patterns: [Setting<String>], redact: [Setting<String>],
        keep: [Setting<String>], secretEnv: [Setting<String>], redaction: Setting<Bool>?, repetition: Setting<Repetition>?,
        order: Setting<ReplayOrder>?, latency: Setting<String>?, refreshDates: Setting<[String]>?, failOn: Setting<FailureRule>?,
        maxAge: Setting<Age>?,
        onExpired: Setting<ExpiryPolicy>?, passthrough: [Setting<HostPattern>], refuse: [Setting<HostPattern>]
    ) {
        self.match = match
        self.ignore = ignore
        self.patterns = patterns
        self.redact = redact
        self.keep = keep
        self.secretEnv = secretEnv
        self.redaction = redaction
        self.repetition = repetition
        self.order = order
        self.latency = latency
        self.refreshDates = refreshDates
        self.failOn = failOn
        self.maxAge = maxAge
        self.onExpired = onExpired
        self.passthrough = passthrough
        self.refuse = refuse
    }
}

/// What holds where nobody says anything.
extension RunSettings {
    public var repetitionInForce: Repetition { self.repetition?.value ?? .never }
    public var orderInForce: ReplayOrder { self.order?.value ?? .any }
    public var failOnInForce: FailureRule { (self.failOn?.value ?? .standard).under(self.orderInForce) }
    public var onExpiredInForce: ExpiryPolicy { self.onExpired?.value ?? .warn }
}
