internal import ArgumentParser
internal import CassetteStore
internal import TapeProxy

struct RecordCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Record traffic into a cassette.",
        discussion: """
            Where FILE exists, the new recording is written beside it and takes its place on a clean close; the old one stays when \
            the command failed.

            Examples:
              wiretape record Cassettes/pets.json -- python3 client.py
              wiretape record Cassettes/pets.json -- npm test
              wiretape record Cassettes/pets.json --listen 127.0.0.1:7070
              http_proxy=http://127.0.0.1:7070 curl http://127.0.0.1:9000/pets
            """)

    @Argument(help: "The cassette, a JSON file.")
    var file: String

    @OptionGroup var rules: RuleOptions
    @OptionGroup var config: ConfigOptions
    @OptionGroup var proxy: ProxyOptions
    @OptionGroup var tls: TLSOptions
    @OptionGroup var upstreamTLS: UpstreamTLSOptions
    @OptionGroup var recording: RecordOptions

    @Argument(parsing: .postTerminator, help: "The program to run through the proxy; without one the proxy runs until Ctrl-C.")
    var command: [String] = []

    /// The run that the command line asks for.
    var proxyRun: ProxyRun {
        ProxyRun(
            file: self.file, mode: .all, settings: self.rules.lay(over: RunSettings()), config: self.config, reports: [], proxy: self.proxy,
            tls: self.tls, upstreamTLS: self.upstreamTLS, recording: self.recording, command: self.command)
    }

    func validate() throws { try self.tls.validate(with: self.command) }

    func run() throws { try self.proxyRun.run() }
}
