internal import TapeCore

/// What one source, or all of them, say of how a run is to go: nil and empty where they say nothing.
///
/// Each text was checked by whoever put it in.
struct RunSettings: Sendable, Hashable {
    var match: Setting<[String]>?
    var ignore: [Setting<String>] = []
    var patterns: [Setting<String>] = []
    var redact: [Setting<String>] = []
    var keep: [Setting<String>] = []
    /// Names of environment variables whose values are secrets.
    var secretEnv: [Setting<String>] = []
    var repetition: Setting<Repetition>?
    var order: Setting<ReplayOrder>?
    var latency: Setting<String>?
    /// Places of dates in JSON bodies that move with those of header fields; nil where no date moves.
    var refreshDates: Setting<[String]>?
    var failOn: Setting<FailureRule>?
    var maxAge: Setting<Age>?
    var onExpired: Setting<ExpiryPolicy>?
    var passthrough: [Setting<HostPattern>] = []
    var refuse: [Setting<HostPattern>] = []

    /// These with others laid over them: lists add, but for `match`, and the rest replaces.
    func adding(_ other: RunSettings) -> RunSettings {
        RunSettings(
            match: other.match ?? self.match, ignore: self.ignore + other.ignore, patterns: self.patterns + other.patterns,
            redact: self.redact + other.redact, keep: self.keep + other.keep, secretEnv: self.secretEnv + other.secretEnv,
            repetition: other.repetition ?? self.repetition, order: other.order ?? self.order, latency: other.latency ?? self.latency,
            refreshDates: other.refreshDates ?? self.refreshDates,
            failOn: other.failOn ?? self.failOn, maxAge: other.maxAge ?? self.maxAge, onExpired: other.onExpired ?? self.onExpired,
            passthrough: self.passthrough + other.passthrough, refuse: self.refuse + other.refuse)
    }

    /// What is said of matching.
    var matchTexts: MatchRuleTexts {
        MatchRuleTexts(match: self.match?.value, ignore: self.ignore.map(\.value), patterns: self.patterns.map(\.value))
    }

    /// A cassette's own rules, as what all else is laid over.
    init(matchTexts texts: MatchRuleTexts, of cassette: String) {
        self.init()
        let source = SettingSource.cassette(cassette)
        self.match = texts.match.map { Setting(value: $0, source: source) }
        self.ignore = texts.ignore.map { Setting(value: $0, source: source) }
        self.patterns = texts.patterns.map { Setting(value: $0, source: source) }
    }

    init() {}

    private init(
        match: Setting<[String]>?, ignore: [Setting<String>], patterns: [Setting<String>], redact: [Setting<String>],
        keep: [Setting<String>], secretEnv: [Setting<String>], repetition: Setting<Repetition>?, order: Setting<ReplayOrder>?,
        latency: Setting<String>?, refreshDates: Setting<[String]>?, failOn: Setting<FailureRule>?, maxAge: Setting<Age>?,
        onExpired: Setting<ExpiryPolicy>?, passthrough: [Setting<HostPattern>], refuse: [Setting<HostPattern>]
    ) {
        self.match = match
        self.ignore = ignore
        self.patterns = patterns
        self.redact = redact
        self.keep = keep
        self.secretEnv = secretEnv
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
    var repetitionInForce: Repetition { self.repetition?.value ?? .never }
    var orderInForce: ReplayOrder { self.order?.value ?? .any }
    var failOnInForce: FailureRule { (self.failOn?.value ?? .standard).under(self.orderInForce) }
    var onExpiredInForce: ExpiryPolicy { self.onExpired?.value ?? .warn }
}
