internal import ArgumentParser
internal import TapeProxy

/// What `record`, `replay` and `run` share.
struct ProxyOptions: ParsableArguments {
    static let graces = 0...3600

    @Option(
        help: ArgumentHelp(
            "Address to listen on; port 0 takes a free one. An address other than loopback needs --allow-remote. Default: 127.0.0.1:0.",
            valueName: "host:port"))
    var listen: ListenAddress?

    @Flag(help: "Let other machines in; needs --proxy-auth.")
    var allowRemote = false

    @Option(
        help: ArgumentHelp(
            "User and password that clients must give. Better set in WIRETAPE_PROXY_AUTH, since arguments are seen by everybody on the machine.",
            valueName: "user:password"))
    var proxyAuth: String?

    @Flag(name: .shortAndLong, help: "Say nothing but errors.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Say where the proxy listens also when it runs a program.")
    var verbose = false

    @Flag(help: "Print the summary as one JSON line on standard error.")
    var json = false

    @Option(help: ArgumentHelp("Seconds that what is in flight gets to end at a stop. Default: 5.", valueName: "seconds"))
    var grace: Int?

    @OptionGroup var server: ServerOptions

    func validate() throws {
        guard self.grace.map({ Self.graces.contains($0) }) ?? true else { throw ValidationError("--grace takes 0 to 3600 seconds.") }
        guard !(self.quiet && self.verbose) else { throw ValidationError("--quiet and --verbose do not go together.") }
    }

    func lay(over settings: RunSettings) -> RunSettings {
        var own = RunSettings()
        own.listen = self.listen.map { Setting(value: $0, source: .commandLine) }
        own.grace = self.grace.map { Setting(value: $0, source: .commandLine) }
        return settings.adding(own)
    }
}
