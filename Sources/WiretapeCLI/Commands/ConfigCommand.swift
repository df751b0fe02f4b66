internal import ArgumentParser
internal import CassettePlayback
internal import CassetteStore
internal import TapeProxy

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Show which settings are in force, and where each comes from.",
        discussion: """
            Later sources lie over earlier ones: what is built in, the cassette's own rules, wiretape.yaml, and the command line. Lists \
            add up, but for "match"; anything else replaces.

            Examples:
              wiretape config
              wiretape config Cassettes/pets.json
              wiretape config Cassettes/pets.json --ignore query:ts --json
            """)

    @Argument(help: "A cassette, for its own rules and for the settings of its name alone. It need not be there yet.")
    var file: String?

    @OptionGroup var rules: RuleOptions
    @OptionGroup var verdict: VerdictOptions
    @OptionGroup var pace: PaceOptions
    @OptionGroup var redaction: RedactionOptions
    @OptionGroup var config: ConfigOptions

    @Flag(help: "Print a JSON array.")
    var json = false

    func run() throws {
        SignalThread.unblock()
        try CommandEnd.run {
            let configFile = try self.config.file()
            let rows = SettingRow.rows(try self.settings(configFile))
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
        settings = self.redaction.lay(over: self.pace.lay(over: self.verdict.lay(over: self.rules.lay(over: settings))))
        try settings.check()
        return settings
    }
}
