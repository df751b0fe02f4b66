internal import ArgumentParser
internal import TapeCore
internal import TapeProxy

/// What one source, or all of them, say of how a run is to go: nil and empty where they say nothing.
///
/// Each text was checked by whoever put it in.
struct RunSettings: Sendable, Hashable {
    var mode: Setting<RecordMode>?
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
    /// Whether dates of answers move with the replay.
    var refreshDates: Setting<Bool>?
    /// Places of dates in JSON bodies that move with those of header fields.
    var refreshFields: [Setting<String>] = []
    var failOn: Setting<FailureRule>?
    var maxAge: Setting<Age>?
    var onExpired: Setting<ExpiryPolicy>?
    var keepOnFailure: Setting<Bool>?
    var review: Setting<Bool>?
    var durability: Setting<ProxyConfiguration.Durability>?
    var onDiskFull: Setting<ProxyConfiguration.DiskFullPolicy>?
    var listen: Setting<ListenAddress>?
    /// Seconds.
    var grace: Setting<Int>?
    var passthrough: [Setting<HostPattern>] = []
    var refuse: [Setting<HostPattern>] = []
    /// Paths of PEM files.
    var upstreamCA: [Setting<String>] = []
    var insecureUpstream: [Setting<HostPattern>] = []

    init() {}

    /// A cassette's own rules, as what all else is laid over.
    init(matchTexts texts: MatchRuleTexts?, redaction: RedactionRules? = nil, of cassette: String) {
        let source = SettingSource.cassette(cassette)
        self.match = texts?.match.map { Setting(value: $0, source: source) }
        self.ignore = texts?.ignore.map { Setting(value: $0, source: source) } ?? []
        self.patterns = texts?.patterns.map { Setting(value: $0, source: source) } ?? []
        self.redact = redaction?.rules.map { Setting(value: $0.text, source: source) } ?? []
        self.keep = redaction?.keep.map { Setting(value: $0.text, source: source) } ?? []
    }

    /// These with others laid over them: lists add, but for `match`, and the rest replaces.
    func adding(_ other: RunSettings) -> RunSettings {
        var sum = self
        sum.mode = other.mode ?? self.mode
        sum.match = other.match ?? self.match
        sum.ignore += other.ignore
        sum.patterns += other.patterns
        sum.redact += other.redact
        sum.keep += other.keep
        sum.secretEnv += other.secretEnv
        sum.repetition = other.repetition ?? self.repetition
        sum.order = other.order ?? self.order
        sum.latency = other.latency ?? self.latency
        sum.refreshDates = other.refreshDates ?? self.refreshDates
        sum.refreshFields += other.refreshFields
        sum.failOn = other.failOn ?? self.failOn
        sum.maxAge = other.maxAge ?? self.maxAge
        sum.onExpired = other.onExpired ?? self.onExpired
        sum.keepOnFailure = other.keepOnFailure ?? self.keepOnFailure
        sum.review = other.review ?? self.review
        sum.durability = other.durability ?? self.durability
        sum.onDiskFull = other.onDiskFull ?? self.onDiskFull
        sum.listen = other.listen ?? self.listen
        sum.grace = other.grace ?? self.grace
        sum.passthrough += other.passthrough
        sum.refuse += other.refuse
        sum.upstreamCA += other.upstreamCA
        sum.insecureUpstream += other.insecureUpstream
        return sum
    }

    /// What is said of matching.
    var matchTexts: MatchRuleTexts {
        MatchRuleTexts(match: self.match?.value, ignore: self.ignore.map(\.value), patterns: self.patterns.map(\.value))
    }

    /// Throws where the command line's words make no sense with all the others.
    func check(assumesYes: Bool = false) throws {
        if self.onExpired?.source == .commandLine, self.maxAge == nil {
            throw ValidationError("--on-expired is for a cassette that is older than --max-age: give that too.")
        }
        if self.refreshFields.contains(where: { $0.source == .commandLine }), !self.refreshesDates {
            throw ValidationError("--refresh-field is for dates that --refresh-dates moves: give both.")
        }
        if assumesYes, !self.reviews { throw ValidationError("--yes answers --review: give both.") }
    }
}

/// What holds where nobody says anything.
extension RunSettings {
    var modeInForce: RecordMode { self.mode?.value ?? .once }
    var repetitionInForce: Repetition { self.repetition?.value ?? .never }
    var orderInForce: ReplayOrder { self.order?.value ?? .any }
    var failOnInForce: FailureRule { (self.failOn?.value ?? .standard).under(self.orderInForce) }
    var onExpiredInForce: ExpiryPolicy { self.onExpired?.value ?? .warn }
    var latencyInForce: String { self.latency?.value ?? "none" }
    var refreshesDates: Bool { self.refreshDates?.value ?? false }
    var keepsOnFailure: Bool { self.keepOnFailure?.value ?? false }
    var reviews: Bool { self.review?.value ?? false }
    var durabilityInForce: ProxyConfiguration.Durability { self.durability?.value ?? .normal }
    var onDiskFullInForce: ProxyConfiguration.DiskFullPolicy { self.onDiskFull?.value ?? .pass }
    var listenInForce: ListenAddress { self.listen?.value ?? ListenAddress(host: "127.0.0.1", port: 0) }
    var graceInForce: Int { self.grace?.value ?? 5 }
}
