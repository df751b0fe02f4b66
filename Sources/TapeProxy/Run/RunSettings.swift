public import CassetteModel
public import CassettePlayback
public import CassetteRedaction
public import CassetteRun
public import CassetteStore
internal import CassetteTools
internal import TapeBytes
public import TapeTrust
package import TrafficRules

/// The settings of a run, from one source or from all of them combined; nil or empty if not set.
///
/// The caller has validated every text.
public struct RunSettings: Sendable, Hashable {
    public var mode: Setting<RecordMode>?
    public var match: Setting<[String]>?
    public var ignore: [Setting<String>] = []
    public var patterns: [Setting<String>] = []
    public var replace: [Setting<String>] = []
    public var sort: [Setting<String>] = []
    public var optional: [Setting<String>] = []
    /// Presets whose rules are among those above.
    public var presets: [Setting<RulePreset>] = []
    /// Paths of files, or folders of files, that name the fields of gRPC messages.
    public var descriptors: [Setting<String>] = []
    public var redact: [Setting<String>] = []
    public var keep: [Setting<String>] = []
    /// Names of environment variables whose values are secrets.
    public var secretEnv: [Setting<String>] = []
    /// False keeps secrets in the recording.
    public var redaction: Setting<Bool>?
    public var repetition: Setting<Repetition>?
    /// A filter expression: the exchanges that match it may answer any number of times.
    public var repeatMatching: Setting<String>?
    public var order: Setting<ReplayOrder>?
    public var conversation: Setting<ConversationOrder>?
    public var ranges: Setting<RangeReplay>?
    public var latency: Setting<String>?
    public var originErrors: Setting<Failure.Answer>?
    /// Whether the dates of responses are shifted to the time of the replay.
    public var refreshDates: Setting<Bool>?
    /// Dates in JSON bodies to shift like those in header fields.
    public var refreshFields: [Setting<String>] = []
    public var failOn: Setting<FailureRule>?
    /// Rules that change the traffic.
    package var modify: [Setting<RuleList>] = []
    /// Judges what the client does with answers that failed, by these limits; nil does not.
    package var verdict: Setting<ClientVerdict.Limits>?
    /// Of the draws of these rules.
    public var seed: Setting<UInt64>?
    public var maxAge: Setting<Age>?
    public var onExpired: Setting<ExpiryPolicy>?
    /// Whether the old cassette is kept when the command fails.
    public var keepOnFailure: Setting<Bool>?
    public var review: Setting<Bool>?
    public var durability: Setting<ProxyConfiguration.Durability>?
    public var onDiskFull: Setting<ProxyConfiguration.DiskFullPolicy>?
    public var listen: Setting<ListenAddress>?
    /// Seconds.
    public var grace: Setting<Int>?
    public var passthrough: [Setting<HostPattern>] = []
    public var refuse: [Setting<HostPattern>] = []
    /// Paths of PEM files.
    public var upstreamCA: [Setting<String>] = []
    public var insecureUpstream: [Setting<HostPattern>] = []
    /// The address of the store for pointers.
    public var store: Setting<String>?
    /// The store's server, if it is not AWS.
    public var endpoint: Setting<String>?
    public var region: Setting<String>?
    /// Whether the store's bucket is in the path, not in the host's name.
    public var pathStyle: Setting<Bool>?
    /// Whether commands fetch a cassette from the store that the cache does not have.
    public var fetch: Setting<Bool>?

    public init() {}

    /// The rules of a cassette, which other settings are added to.
    public init(matchTexts texts: MatchRuleTexts?, redaction: RedactionRules? = nil, of cassette: String) {
        let source = SettingSource.cassette(cassette)
        self.match = texts?.match.map { Setting(value: $0, source: source) }
        self.ignore = texts?.ignore.map { Setting(value: $0, source: source) } ?? []
        self.patterns = texts?.patterns.map { Setting(value: $0, source: source) } ?? []
        self.replace = texts?.replace.map { Setting(value: $0, source: source) } ?? []
        self.sort = texts?.sort.map { Setting(value: $0, source: source) } ?? []
        self.optional = texts?.optional.map { Setting(value: $0, source: source) } ?? []
        self.redact = redaction?.rules.map { Setting(value: $0.text, source: source) } ?? []
        self.keep = redaction?.keep.map { Setting(value: $0.text, source: source) } ?? []
    }

    /// Adds the rules of presets, before rules that are written out.
    public mutating func add(presets: [Setting<RulePreset>]) {
        for preset in presets {
            let source = SettingSource.preset(preset.value.rawValue)
            let texts = preset.value.rules
            self.presets.append(preset)
            if let match = texts.match, self.match == nil { self.match = Setting(value: match, source: source) }
            self.ignore += texts.ignore.map { Setting(value: $0, source: source) }
            self.patterns += texts.patterns.map { Setting(value: $0, source: source) }
            self.replace += texts.replace.map { Setting(value: $0, source: source) }
            self.sort += texts.sort.map { Setting(value: $0, source: source) }
            self.optional += texts.optional.map { Setting(value: $0, source: source) }
        }
    }

    /// Applies other settings over these: lists are appended, except for `match`, and other values are replaced.
    public func adding(_ other: RunSettings) -> RunSettings {
        var sum = self
        sum.mode = other.mode ?? self.mode
        sum.match = other.match ?? self.match
        sum.ignore += other.ignore
        sum.patterns += other.patterns
        sum.replace += other.replace
        sum.sort += other.sort
        sum.optional += other.optional
        sum.presets += other.presets
        sum.descriptors += other.descriptors
        sum.redact += other.redact
        sum.keep += other.keep
        sum.secretEnv += other.secretEnv
        sum.redaction = other.redaction ?? self.redaction
        sum.repetition = other.repetition ?? self.repetition
        sum.repeatMatching = other.repeatMatching ?? self.repeatMatching
        sum.order = other.order ?? self.order
        sum.conversation = other.conversation ?? self.conversation
        sum.ranges = other.ranges ?? self.ranges
        sum.latency = other.latency ?? self.latency
        sum.originErrors = other.originErrors ?? self.originErrors
        sum.refreshDates = other.refreshDates ?? self.refreshDates
        sum.refreshFields += other.refreshFields
        sum.modify += other.modify
        sum.verdict = other.verdict ?? self.verdict
        sum.seed = other.seed ?? self.seed
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
        sum.store = other.store ?? self.store
        sum.endpoint = other.endpoint ?? self.endpoint
        sum.region = other.region ?? self.region
        sum.pathStyle = other.pathStyle ?? self.pathStyle
        sum.fetch = other.fetch ?? self.fetch
        return sum
    }

    /// The settings for matching.
    public var matchTexts: MatchRuleTexts {
        MatchRuleTexts(
            match: self.match?.value, ignore: self.ignore.map(\.value), patterns: self.patterns.map(\.value),
            replace: self.replace.map(\.value), sort: self.sort.map(\.value), optional: self.optional.map(\.value))
    }
}

/// Defaults.
extension RunSettings {
    public var modeInForce: RecordMode { self.mode?.value ?? .once }
    public var repetitionInForce: Repetition { self.repetition?.value ?? .never }
    public var orderInForce: ReplayOrder { self.order?.value ?? .any }
    public var conversationInForce: ConversationOrder { self.conversation?.value ?? .strict }
    public var rangesInForce: RangeReplay { self.ranges?.value ?? .computed }
    public var failOnInForce: FailureRule { (self.failOn?.value ?? .standard).under(self.orderInForce) }
    public var onExpiredInForce: ExpiryPolicy { self.onExpired?.value ?? .warn }
    public var seedInForce: UInt64 { self.seed?.value ?? 0 }
    public var latencyInForce: String { self.latency?.value ?? "none" }
    public var refreshesDates: Bool { self.refreshDates?.value ?? false }
    public var keepsOnFailure: Bool { self.keepOnFailure?.value ?? true }
    public var reviews: Bool { self.review?.value ?? false }
    public var durabilityInForce: ProxyConfiguration.Durability { self.durability?.value ?? .normal }
    public var onDiskFullInForce: ProxyConfiguration.DiskFullPolicy { self.onDiskFull?.value ?? .pass }
    public var listenInForce: ListenAddress { self.listen?.value ?? ListenAddress(host: "127.0.0.1", port: 0) }
    public var graceInForce: Int { self.grace?.value ?? 5 }
}

extension RunSettings {
    /// The options for planning a run.
    ///
    /// - Parameters:
    ///   - mayRerecord: whether an expired cassette may be recorded again; false for a run that reaches no origin.
    ///   - secret: returns the value of an environment variable.
    public func planOptions(mayRerecord: Bool, secret: (String) -> [UInt8]?) throws(SettingSyntaxError) -> RunPlan.Options {
        var options = RunPlan.Options()
        options.matchTexts = self.matchTexts
        options.descriptors = self.descriptors.map(\.value)
        options.redaction = try self.redactionRules(secret: secret)
        options.repetition = self.repetitionInForce
        options.repeats = try self.repeats()
        options.order = self.orderInForce
        options.conversationOrder = self.conversationInForce
        options.ranges = self.rangesInForce
        options.keepsLeft = try Latency(self.latencyInForce).isAtLeastRecorded
        options.refreshedFields = self.refreshesDates ? self.refreshFields.map(\.value) : nil
        options.maxAge = self.maxAge?.value
        options.onExpired = self.onExpiredInForce
        options.mayRerecord = mayRerecord
        return options
    }
}

/// Repetition.
extension RunSettings {
    /// Throws if the text is not a filter expression.
    package static func checkRepeatMatching(_ text: String) throws(SettingSyntaxError) {
        _ = try FilterParser.parse(text, setting: "repeatMatching")
    }

    private func repeats() throws(SettingSyntaxError) -> (@Sendable (Interaction, BodyReader) throws -> Bool)? {
        guard let repeatMatching else { return nil }
        let expression = try FilterParser.parse(repeatMatching.value, setting: "repeatMatching")
        return { try ExchangeFilter(expression, reader: $1).matches($0) }
    }
}

/// Redaction.
extension RunSettings {
    /// nil if secrets are kept.
    ///
    /// - Parameter secret: returns the value of an environment variable.
    public func redactionRules(secret: (String) -> [UInt8]?) throws(SettingSyntaxError) -> RedactionRules? {
        guard self.redaction?.value != false else { return nil }
        let values = self.secretEnv.compactMap { name in secret(name.value).map { SecretValue(name: name.value, bytes: $0) } }
        return try RedactionRules(
            rules: self.redact.map(\.value), keep: self.keep.map(\.value), secrets: values.filter { !$0.bytes.isEmpty })
    }

    /// The variables of `secretEnv` that are missing from the environment.
    public func missingSecrets(secret: (String) -> [UInt8]?) -> [String] {
        guard self.redaction?.value != false else { return [] }
        return self.secretEnv.map(\.value).filter { secret($0)?.isEmpty ?? true }
    }
}

/// `HOST:PORT`, on which a server listens.
public struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    public var host: String
    public var port: Int

    /// Accepts `127.0.0.1:7070`, `[::1]:7070` and `localhost:0`; `7070` and `:7070` are ports of 127.0.0.1.
    public init?(argument: String) {
        let alone = argument.hasPrefix(":") ? argument.dropFirst() : argument[...]
        if !alone.isEmpty, alone.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            guard let port = UInt16(alone) else { return nil }
            self.host = "127.0.0.1"
            self.port = Int(port)
            return
        }
        guard let colon = argument.lastIndex(of: ":") else { return nil }
        let digits = argument[argument.index(after: colon)...]
        // UInt16 would accept a sign.
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let port = UInt16(digits)
        else { return nil }
        var host = argument[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty else { return nil }
        self.host = String(host)
        self.port = Int(port)
    }

    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    public var description: String { self.host.contains(":") ? "[\(self.host)]:\(self.port)" : "\(self.host):\(self.port)" }
}

/// A value given to a run, and its source.
public struct Setting<Value: Sendable & Hashable>: Sendable, Hashable {
    public var value: Value
    public var source: SettingSource

    public init(value: Value, source: SettingSource) {
        self.value = value
        self.source = source
    }
}

/// Where a setting comes from.
public enum SettingSource: Sendable, Hashable, CustomStringConvertible {
    case standard
    case cassette(String)
    /// A line of a configuration file, from 1. `section` is the pattern of the file's section for some cassettes, if the line is in one.
    case file(String, line: Int, section: String?)
    case commandLine
    /// The request that opened a session.
    case session
    /// A rule of a preset.
    case preset(String)

    public var description: String {
        switch self {
        case .standard: "default"
        case .cassette(let path): path
        case .file(let path, let line, nil): "\(path) line \(line)"
        case .file(let path, let line, let section?): "\(path) line \(line), for \"\(section)\""
        case .commandLine: "command line"
        case .session: "session"
        case .preset(let name): "preset \(name)"
        }
    }
}
