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

    @OptionGroup var rules: SettingOptions<RuleGroup>
    @OptionGroup var more: SettingOptions<MoreRuleGroup>
    @OptionGroup var failures: SettingOptions<FailureGroup>
    @OptionGroup var answers: SettingOptions<AnswerGroup>
    @OptionGroup var pace: SettingOptions<PaceGroup>
    @OptionGroup var redaction: SettingOptions<RedactionGroup>
    @OptionGroup var modify: ModifyOptions
    @OptionGroup var drawing: SettingOptions<SeedGroup>
    @OptionGroup var trial: RuleTrialOptions
    @OptionGroup var config: ConfigOptions

    @Flag(help: "Print a JSON array.")
    var json = false

    @Flag(help: "Print the JSON Schema of wiretape.yaml, with all settings, and nothing else.")
    var schema = false

    func run() throws {
        SignalThread.unblock()
        guard !self.schema else { return Terminal.output.write(ConfigSchema.json) }
        try CommandEnd.run {
            let configFile = try self.config.file()
            let settings = try self.settings(configFile)
            if self.trial.isAsked {
                let trial = try self.trial.trial(settings, cassette: self.file)
                if self.json { Terminal.output.write(trial.json) } else { for line in trial.lines { Terminal.output.line(line) } }
                return ExitStatus.done
            }
            let rows = SettingLine.rows(settings)
            guard !self.json else {
                Terminal.output.write(SettingLine.json(rows))
                return ExitStatus.done
            }
            Terminal.output.line(VisibleText.line(configFile.map { "configuration: \($0.path)" } ?? "no configuration file"))
            for line in SettingLine.table(rows) { Terminal.output.line(line) }
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
        settings = self.drawing.lay(over: self.redaction.lay(over: self.pace.lay(over: settings)))
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
struct SettingLine: Sendable, Hashable {
    var name: String
    var value: String
    var source: SettingSource

    /// All settings in force, in the order of the documentation.
    static func rows(_ settings: RunSettings) -> [SettingLine] {
        Settings.rows.flatMap { row in
            settings.shown(row).map { SettingLine(name: row.key, value: $0.text, source: $0.source) }
        }
    }

    /// Lines in three columns; a repeated name is left blank.
    static func table(_ rows: [SettingLine]) -> [String] {
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
    static func json(_ rows: [SettingLine]) -> [UInt8] {
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
