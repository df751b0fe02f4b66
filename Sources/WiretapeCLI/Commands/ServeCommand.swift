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

    @OptionGroup var tls: TLSOptions
    @OptionGroup var upstreamTLS: UpstreamTLSOptions
    @OptionGroup var recording: RecordOptions

    func validate() throws {
        guard (0...3600).contains(self.grace) else { throw ValidationError("--grace takes 0 to 3600 seconds.") }
        try self.tls.validate(with: [])
    }

    func run() throws { try ServeRun(options: self).run() }
}
