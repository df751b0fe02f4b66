public import CassetteModel
public import CassettePlayback
public import CassetteRedaction
public import CassetteRun
public import CassetteStore
internal import CassetteTools
internal import TapeBytes
public import TapeTrust
package import TrafficRules

/// The settings of a run, from one source or from all of them combined.
///
/// Holds what was given, by the rows of `Settings`, with its source.
public struct RunSettings: Sendable, Hashable {
    /// A value of any setting, and its source.
    private struct Given: Sendable, Hashable {
        let value: any Sendable & Hashable
        let source: SettingSource

        static func == (left: Given, right: Given) -> Bool {
            left.source == right.source && AnyHashable(left.value) == AnyHashable(right.value)
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(AnyHashable(self.value))
            hasher.combine(self.source)
        }
    }

    /// By the keys of the rows; never empty lists.
    private var given: [String: [Given]] = [:]

    public init() {}

    /// A setting as it was given; nil if no source gives it.
    public subscript<Value>(_ setting: RunSetting<Value>) -> Setting<Value>? {
        get {
            self.given[setting.row.key]?.last.flatMap { given in
                (given.value as? Value).map { Setting(value: $0, source: given.source) }
            }
        }
        set { self.given[setting.row.key] = newValue.map { [Given(value: $0.value, source: $0.source)] } }
    }

    /// The values of a list, those of the most general source first.
    public subscript<Element>(_ list: RunSettingList<Element>) -> [Setting<Element>] {
        get {
            self.given[list.row.key]?.compactMap { given in
                (given.value as? Element).map { Setting(value: $0, source: given.source) }
            } ?? []
        }
        set { self.given[list.row.key] = newValue.isEmpty ? nil : newValue.map { Given(value: $0.value, source: $0.source) } }
    }

    /// The value in force.
    public func value<Value>(_ setting: RunSetting<Value>) -> Value { self[setting]?.value ?? setting.standard }

    /// Takes a value from a text: the last one of a setting, or one more of a list.
    ///
    /// Throws if the text is not a value of the setting; the error has no period at the end.
    package mutating func read(_ row: SettingRow, _ text: String, source: SettingSource) throws {
        guard let value = try row.read?(text) else { return }
        if let preset = value as? RulePreset { return self.add(presets: [Setting(value: preset, source: source)]) }
        let given = Given(value: value, source: source)
        if row.isList { self.given[row.key, default: []].append(given) } else { self.given[row.key] = [given] }
    }

    /// Checks values that are right alone, but may not be together.
    ///
    /// - Parameter secret: returns the value of an environment variable.
    package func checkTogether(secret: (String) -> [UInt8]?) throws {
        _ = try MatchRules(self.matchTexts)
        _ = try RefreshRules(self[Settings.refreshFields].map(\.value))
        _ = try self.redactionRules(secret: secret)
    }

    /// The values of a setting as text, with their sources: the standard value if there are none. Empty if nothing is to be shown.
    package func shown(_ row: SettingRow) -> [(text: String, source: SettingSource)] {
        if row.key == Settings.failOn.row.key { return [(self.failOnInForce.description, self[Settings.failOn]?.source ?? .standard)] }
        if let given = self.given[row.key] { return given.map { (row.shown($0.value), $0.source) } }
        // A seed has no effect without rules.
        if row.key == Settings.seed.row.key, !self[Settings.modify].isEmpty { return [("\(Settings.seed.standard)", .standard)] }
        return row.standard.map { [($0, .standard)] } ?? []
    }

    /// The rules of a cassette, which other settings are added to.
    public init(matchTexts texts: MatchRuleTexts?, redaction: RedactionRules? = nil, of cassette: String) {
        let source = SettingSource.cassette(cassette)
        if let names = texts?.match { self[Settings.match] = Setting(value: names, source: source) }
        self.add(texts, source: source)
        self[Settings.redact] = redaction?.rules.map { Setting(value: $0.text, source: source) } ?? []
        self[Settings.keep] = redaction?.keep.map { Setting(value: $0.text, source: source) } ?? []
    }

    private mutating func add(_ texts: MatchRuleTexts?, source: SettingSource) {
        guard let texts else { return }
        self[Settings.ignore] += texts.ignore.map { Setting(value: $0, source: source) }
        self[Settings.patterns] += texts.patterns.map { Setting(value: $0, source: source) }
        self[Settings.replace] += texts.replace.map { Setting(value: $0, source: source) }
        self[Settings.sort] += texts.sort.map { Setting(value: $0, source: source) }
        self[Settings.optional] += texts.optional.map { Setting(value: $0, source: source) }
    }

    /// Adds the rules of presets, before rules that are written out.
    public mutating func add(presets: [Setting<RulePreset>]) {
        for preset in presets {
            let source = SettingSource.preset(preset.value.rawValue)
            let texts = preset.value.rules
            self[Settings.presets].append(preset)
            if let match = texts.match, self[Settings.match] == nil { self[Settings.match] = Setting(value: match, source: source) }
            self.add(texts, source: source)
        }
    }

    /// Applies other settings over these: lists are appended, and other values are replaced.
    public func adding(_ other: RunSettings) -> RunSettings {
        var sum = self
        for row in Settings.rows {
            guard let values = other.given[row.key] else { continue }
            sum.given[row.key] = row.isList ? (sum.given[row.key] ?? []) + values : values
        }
        return sum
    }

    /// The settings for matching.
    public var matchTexts: MatchRuleTexts {
        MatchRuleTexts(
            match: self[Settings.match]?.value, ignore: self[Settings.ignore].map(\.value), patterns: self[Settings.patterns].map(\.value),
            replace: self[Settings.replace].map(\.value), sort: self[Settings.sort].map(\.value),
            optional: self[Settings.optional].map(\.value))
    }

    /// With strict order, a request refused because of its order counts like one that nothing answers.
    public var failOnInForce: FailureRule { self.value(Settings.failOn).under(self.value(Settings.order)) }
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
        options.descriptors = self[Settings.descriptors].map(\.value)
        options.redaction = try self.redactionRules(secret: secret)
        options.repetition = self.value(Settings.repetition)
        options.repeats = try self.repeats()
        options.order = self.value(Settings.order)
        options.conversationOrder = self.value(Settings.conversation)
        options.ranges = self.value(Settings.ranges)
        options.keepsLeft = self.value(Settings.latency).isAtLeastRecorded
        options.refreshedFields = self.value(Settings.refreshDates) ? self[Settings.refreshFields].map(\.value) : nil
        options.maxAge = self.value(Settings.maxAge)
        options.onExpired = self.value(Settings.onExpired)
        options.mayRerecord = mayRerecord
        return options
    }
}

/// Repetition.
extension RunSettings {
    private func repeats() throws(SettingSyntaxError) -> (@Sendable (Interaction, BodyReader) throws -> Bool)? {
        guard let text = self.value(Settings.repeatMatching) else { return nil }
        let expression = try FilterParser.parse(text, setting: "repeatMatching")
        return { try ExchangeFilter(expression, reader: $1).matches($0) }
    }
}

/// Redaction.
extension RunSettings {
    /// nil if secrets are kept.
    ///
    /// - Parameter secret: returns the value of an environment variable.
    public func redactionRules(secret: (String) -> [UInt8]?) throws(SettingSyntaxError) -> RedactionRules? {
        guard self.value(Settings.redaction) else { return nil }
        let values = self[Settings.secretEnv].compactMap { name in secret(name.value).map { SecretValue(name: name.value, bytes: $0) } }
        return try RedactionRules(
            rules: self[Settings.redact].map(\.value), keep: self[Settings.keep].map(\.value), secrets: values.filter { !$0.bytes.isEmpty })
    }

    /// The variables of `secretEnv` that are missing from the environment.
    public func missingSecrets(secret: (String) -> [UInt8]?) -> [String] {
        guard self.value(Settings.redaction) else { return [] }
        return self[Settings.secretEnv].map(\.value).filter { secret($0)?.isEmpty ?? true }
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

/// The clock of a program that is run.
public enum ProgramClock: String, Sendable, Hashable, CaseIterable {
    case real
    /// In a replay, it starts where the recording starts.
    case recorded
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
