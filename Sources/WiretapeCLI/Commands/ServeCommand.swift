internal import ArgumentParser
internal import TapeProxy

struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve many cassettes at once, each to its own session.",
        discussion: """
            A session is started and ended over HTTP, with the token; its clients name it in the proxy's URL, or use a port of its own. \
            Runs until Ctrl-C or SIGTERM, which closes every cassette.

            Examples:
              wiretape serve --folder Cassettes --token-file token
              curl -H "Authorization: Bearer $(cat token)" --json '{"cassette": "pets.json"}' http://127.0.0.1:7071/sessions
              curl -H "Authorization: Bearer $(cat token)" -X DELETE http://127.0.0.1:7071/sessions/s1
            """)

    @Option(help: "The proxy port of all sessions, HOST:PORT; a loopback address, and port 0 takes a free one.")
    var listen = ListenAddress(host: "127.0.0.1", port: 0)

    @Option(help: "Where sessions are started and ended, HOST:PORT; a loopback address, and port 0 takes a free one.")
    var control = ListenAddress(host: "127.0.0.1", port: 0)

    @Option(
        help: ArgumentHelp(
            "The file with the token for --control, made where there is none. Without it, the token is that of WIRETAPE_TOKEN.",
            valueName: "file"))
    var tokenFile: String?

    @Option(help: ArgumentHelp("The folder of the cassettes; sessions reach nothing outside of it.", valueName: "folder"))
    var folder = "."

    @Flag(name: .shortAndLong, help: "Say nothing but errors.")
    var quiet = false

    @Option(help: ArgumentHelp("Seconds that what is in flight gets to end with its session.", valueName: "seconds"))
    var grace = 5

    @OptionGroup var server: ServerOptions

    @OptionGroup var tls: TLSOptions
    @OptionGroup var upstreamTLS: UpstreamTLSOptions

    @OptionGroup(title: "For all sessions, whose own orders lie over them") var rules: RuleOptions
    @OptionGroup var verdict: VerdictOptions
    @OptionGroup var pace: PaceOptions
    @OptionGroup var redaction: RedactionOptions

    @Flag(help: "Keep secrets in the cassettes. They are in everybody's hands who gets them.")
    var noRedaction = false

    @OptionGroup var config: ConfigOptions

    @Option(help: "\"normal\" syncs to disk at least every second, \"full\" before each answer ends.")
    var durability = ProxyConfiguration.Durability.normal

    @Option(help: "While the disk is full: \"pass\" lets traffic go on unrecorded, \"refuse\" answers 507.")
    var onDiskFull = ProxyConfiguration.DiskFullPolicy.pass

    func validate() throws {
        guard (0...3600).contains(self.grace) else { throw ValidationError("--grace takes 0 to 3600 seconds.") }
        guard self.verdict.report.isEmpty else {
            throw ValidationError("--report is for one cassette: the answer to DELETE /sessions/ID has the report.")
        }
        guard !self.noRedaction || self.redaction.isEmpty else {
            throw ValidationError("--no-redaction does not go together with --redact, --keep and --secret-env.")
        }
        try self.tls.validate(with: [])
    }

    /// What holds for all sessions, as the command line has it.
    var settings: RunSettings {
        var own = RunSettings()
        own.redaction = self.noRedaction ? Setting(value: false, source: .commandLine) : nil
        return self.redaction.lay(over: self.pace.lay(over: self.verdict.lay(over: self.rules.lay(over: own))))
    }

    func run() throws { try ServeRun(options: self).run() }
}
