internal import ArgumentParser
internal import CassettePlayback
internal import CassetteStore
internal import CassetteTools
internal import TapeBytes
internal import TapeProxy

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Show which settings are in force, and where each comes from.",
        discussion: """
            Later sources override earlier ones: the defaults, the cassette's own rules, wiretape.yaml, and the command line. Lists \
            are joined, except for "match".

            Examples:
              wiretape config
              wiretape config Cassettes/pets.json
              wiretape config Cassettes/pets.json --ignore query:ts --json
              wiretape config --modify rules.yaml --try 'POST https://example.com/pay' -d '{"amount": 5}'
              wiretape config Cassettes/pets.json --exchange 3
            """)

    @Argument(help: "A cassette, for its own rules and the settings that apply to its name. It need not exist yet.", completion: .file())
    var file: String?

    @OptionGroup var rules: RuleOptions
    @OptionGroup var more: MoreRuleOptions
    @OptionGroup var failures: FailureOptions
    @OptionGroup var answers: AnswerOptions
    @OptionGroup var pace: PaceOptions
    @OptionGroup var redaction: RedactionOptions
    @OptionGroup var modify: ModifyOptions
    @OptionGroup var trial: RuleTrialOptions
    @OptionGroup var config: ConfigOptions

    @Flag(help: "Print a JSON array.")
    var json = false

    func run() throws {
        SignalThread.unblock()
        try CommandEnd.run {
            let configFile = try self.config.file()
            let settings = try self.settings(configFile)
            if self.trial.isAsked {
                let trial = try self.trial.trial(settings, cassette: self.file)
                if self.json { Terminal.output.write(trial.json) } else { for line in trial.lines { Terminal.output.line(line) } }
                return ExitStatus.done
            }
            let rows = SettingRow.rows(settings)
            guard !self.json else {
                Terminal.output.write(SettingRow.json(rows))
                return ExitStatus.done
            }
            Terminal.output.line(VisibleText.line(configFile.map { "configuration: \($0.path)" } ?? "no configuration file"))
            for line in SettingRow.table(rows) { Terminal.output.line(line) }
            return ExitStatus.done
        }
    }

    private func settings(_ configFile: ConfigFile?) throws -> RunSettings {
        var settings = RunSettings()
        if let file, CassettePlace.exists(file) {
            settings = RunSettings(
                matchTexts: try RecordedCassette.matchTexts(ofFile: file), redaction: try RecordedCassette.redactionRules(ofFile: file),
                of: file)
        }
        if let configFile {
            settings = settings.adding(
                self.file.map { configFile.settings(for: $0, in: ConfigSearch.workingFolder) } ?? configFile.settings)
        }
        settings = self.answers.lay(over: self.failures.lay(over: self.more.lay(over: self.rules.lay(over: settings))))
        settings = self.redaction.lay(over: self.pace.lay(over: settings))
        settings = self.modify.judging(try self.modify.lay(over: settings))
        try settings.check()
        return settings
    }
}

/// Which configuration file a command reads.
struct ConfigOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The configuration file, instead of the nearest wiretape.yaml, wiretape.yml or wiretape.json from here up to the repository's root.",
            valueName: "file"), completion: .file())
    var config: String?

    @Flag(help: "Read no configuration file.")
    var noConfig = false

    func validate() throws {
        guard self.config == nil || !self.noConfig else {
            throw ValidationError("--config and --no-config cannot be used together: pass one of them.")
        }
    }

    /// Nil if there is none.
    func file() throws(SettingError) -> ConfigFile? {
        guard !self.noConfig else { return nil }
        if let config { return try ConfigFile(path: config) }
        guard let path = try ConfigSearch.system.path() else { return nil }
        return try ConfigFile(path: path)
    }
}

/// One setting in force, as `wiretape config` shows it; a list has a row for each value.
struct SettingRow: Sendable, Hashable {
    var name: String
    var value: String
    var source: SettingSource

    /// All settings in force, in the order of the documentation.
    static func rows(_ settings: RunSettings) -> [SettingRow] {
        var rows: [SettingRow] = []
        func add(_ key: ConfigKey, _ value: String?, _ source: SettingSource?) {
            if let value { rows.append(SettingRow(name: key.rawValue, value: value, source: source ?? .standard)) }
        }
        func list<Value>(_ key: ConfigKey, _ list: [Setting<Value>]) {
            for setting in list { add(key, "\(setting.value)", setting.source) }
        }
        add(.mode, settings.modeInForce.rawValue, settings.mode?.source)
        add(.match, (settings.match?.value ?? MatchRules.standardNames).joined(separator: ","), settings.match?.source)
        for preset in settings.presets { add(.presets, preset.value.rawValue, preset.source) }
        list(.ignore, settings.ignore)
        list(.patterns, settings.patterns)
        list(.replace, settings.replace)
        list(.sort, settings.sort)
        list(.optional, settings.optional)
        list(.descriptors, settings.descriptors)
        list(.redact, settings.redact)
        list(.keep, settings.keep)
        list(.secretEnv, settings.secretEnv)
        add(.repetition, settings.repetitionInForce.rawValue, settings.repetition?.source)
        add(.repeatMatching, settings.repeatMatching?.value, settings.repeatMatching?.source)
        add(.order, settings.orderInForce.rawValue, settings.order?.source)
        add(.conversation, settings.conversationInForce.rawValue, settings.conversation?.source)
        add(.ranges, settings.rangesInForce.rawValue, settings.ranges?.source)
        add(.latency, settings.latencyInForce, settings.latency?.source)
        add(.originErrors, settings.originErrors?.value.rawValue, settings.originErrors?.source)
        add(.refreshDates, "\(settings.refreshesDates)", settings.refreshDates?.source)
        list(.refreshFields, settings.refreshFields)
        add(.failOn, settings.failOnInForce.description, settings.failOn?.source)
        add(.maxAge, settings.maxAge?.value.description, settings.maxAge?.source)
        add(.onExpired, settings.onExpiredInForce.rawValue, settings.onExpired?.source)
        add(.keepOnFailure, "\(settings.keepsOnFailure)", settings.keepOnFailure?.source)
        add(.review, "\(settings.reviews)", settings.review?.source)
        add(.durability, settings.durabilityInForce.rawValue, settings.durability?.source)
        add(.onDiskFull, settings.onDiskFullInForce.rawValue, settings.onDiskFull?.source)
        for rules in settings.modify { add(.modify, rules.value.file, rules.source) }
        add(.verdict, settings.verdict.map { _ in "client" }, settings.verdict?.source)
        // It has no effect without rules.
        if !settings.modify.isEmpty || settings.seed != nil { add(.seed, "\(settings.seedInForce)", settings.seed?.source) }
        add(.listen, settings.listenInForce.description, settings.listen?.source)
        add(.grace, "\(settings.graceInForce)", settings.grace?.source)
        list(.passthrough, settings.passthrough)
        list(.refuse, settings.refuse)
        list(.upstreamCA, settings.upstreamCA)
        list(.insecureUpstream, settings.insecureUpstream)
        add(.store, settings.store?.value, settings.store?.source)
        add(.endpoint, settings.endpoint?.value, settings.endpoint?.source)
        add(.region, settings.region?.value, settings.region?.source)
        add(.pathStyle, settings.pathStyle.map { "\($0.value)" }, settings.pathStyle?.source)
        add(.fetch, settings.fetch.map { "\($0.value)" }, settings.fetch?.source)
        return rows
    }

    /// Lines in three columns; a repeated name is left blank.
    static func table(_ rows: [SettingRow]) -> [String] {
        let names = rows.map(\.name)
        let values = rows.map { VisibleText.line($0.value) }
        let (wide, wider) = (names.map(\.count).max() ?? 0, min(values.map(\.count).max() ?? 0, 40))
        return rows.indices.map { index in
            let isRepeated = index > 0 && names[index - 1] == names[index]
            return Self.padded(isRepeated ? "" : names[index], wide) + "  " + Self.padded(values[index], wider) + "  "
                + VisibleText.line(rows[index].source.description)
        }
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// A JSON array with an object for each row.
    static func json(_ rows: [SettingRow]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginArray(.lines)
        for row in rows {
            writer.element()
            writer.beginObject(.inline)
            for (name, text) in [("name", row.name), ("value", row.value), ("source", row.source.description)] as [(StaticString, String)] {
                writer.member(name)
                writer.string(text)
            }
            writer.endObject()
        }
        writer.endArray()
        return Array(VisibleText.whole(writer.bytes, .json).utf8) + [10]
    }
}
