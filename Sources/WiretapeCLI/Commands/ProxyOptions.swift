internal import ArgumentParser
internal import TapeProxy

/// What `record`, `replay` and `run` share.
struct ProxyOptions: ParsableArguments {
    @Option(help: "Address to listen on, HOST:PORT; port 0 takes a free one. An address other than loopback needs --allow-remote.")
    var listen = ListenAddress(host: "127.0.0.1", port: 0)

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

    @Option(help: ArgumentHelp("Seconds that what is in flight gets to end at a stop.", valueName: "seconds"))
    var grace = 5

    func validate() throws {
        guard (0...3600).contains(self.grace) else { throw ValidationError("--grace takes 0 to 3600 seconds.") }
        guard !(self.quiet && self.verbose) else { throw ValidationError("--quiet and --verbose do not go together.") }
    }
}
