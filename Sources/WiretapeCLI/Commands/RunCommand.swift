internal import ArgumentParser
internal import CassetteStore
internal import TapeProxy

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Record if there is no cassette yet, replay if there is.",
        discussion: """
            With --mode new-episodes, recorded requests are replayed and new ones are forwarded and added.

            Examples:
              wiretape run Cassettes/pets.json -- python3 client.py
              wiretape run Cassettes/pets.json --mode new-episodes -- python3 client.py
              wiretape run Cassettes/pets.json --mode all --review -- python3 client.py
            """)

    @Argument(help: "The cassette, a JSON file.")
    var file: String

    @Option(
        name: [.customLong("mode"), .customLong("record-mode")],
        help:
            "once records where there is no cassette; new-episodes also adds what it does not hold; all records anew; none replays. Default: once."
    )
    var mode: RecordMode?

    @OptionGroup var rules: RuleOptions
    @OptionGroup var verdict: VerdictOptions
    @OptionGroup var pace: PaceOptions
    @OptionGroup var config: ConfigOptions
    @OptionGroup var proxy: ProxyOptions
    @OptionGroup var tls: TLSOptions
    @OptionGroup var upstreamTLS: UpstreamTLSOptions
    @OptionGroup var recording: RecordOptions

    @Argument(parsing: .postTerminator, help: "The program to run through the proxy; without one the proxy runs until Ctrl-C.")
    var command: [String] = []

    /// The run that the command line asks for.
    var proxyRun: ProxyRun {
        var settings = self.pace.lay(over: self.verdict.lay(over: self.rules.lay(over: RunSettings())))
        settings.mode = self.mode.map { Setting(value: $0, source: .commandLine) }
        return ProxyRun(
            file: self.file, mode: nil, settings: settings, config: self.config, reports: self.verdict.report, proxy: self.proxy,
            tls: self.tls, upstreamTLS: self.upstreamTLS, recording: self.recording, command: self.command)
    }

    func validate() throws { try self.tls.validate(with: self.command) }

    func run() throws { try self.proxyRun.run() }
}
