internal import ArgumentParser
internal import CassetteStore
internal import TapeProxy

struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Answer from a cassette, with no network.",
        discussion: """
            Each recorded exchange answers one request. A request that was not recorded gets status 424 and a text that says what \
            comes nearest, and the run exits with 3.

            Examples:
              wiretape replay Cassettes/pets.json -- python3 client.py
              wiretape replay Cassettes/pets.json --listen 127.0.0.1:7070 --repeat last
            """)

    @Argument(help: "The cassette, a JSON file.")
    var file: String

    @OptionGroup var rules: RuleOptions
    @OptionGroup var verdict: VerdictOptions
    @OptionGroup var pace: PaceOptions
    @OptionGroup var config: ConfigOptions
    @OptionGroup var proxy: ProxyOptions
    @OptionGroup var tls: TLSOptions

    @Argument(parsing: .postTerminator, help: "The program to run through the proxy; without one the proxy runs until Ctrl-C.")
    var command: [String] = []

    /// The run that the command line asks for.
    var proxyRun: ProxyRun {
        ProxyRun(
            file: self.file, mode: RecordMode.none,
            settings: self.pace.lay(over: self.verdict.lay(over: self.rules.lay(over: RunSettings()))),
            config: self.config,
            reports: self.verdict.report, proxy: self.proxy, tls: self.tls, upstreamTLS: nil, recording: nil,
            command: self.command)
    }

    func validate() throws {
        guard self.verdict.onExpired != .rerecord else {
            throw ValidationError("replay reaches no network: say --on-expired rerecord to \"wiretape run\".")
        }
        try self.tls.validate(with: self.command)
    }

    func run() throws { try self.proxyRun.run() }
}
