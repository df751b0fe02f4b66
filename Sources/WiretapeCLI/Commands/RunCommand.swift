internal import ArgumentParser
internal import TapeCore

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Record if there is no cassette yet, replay if there is.",
        discussion: """
            With --mode new-episodes, recorded requests are replayed and new ones are forwarded and added.

            Examples:
              wiretape run Cassettes/pets.json -- python3 client.py
              wiretape run Cassettes/pets.json --mode new-episodes -- python3 client.py
            """)

    enum Mode: String, ExpressibleByArgument, CaseIterable {
        case once
        case newEpisodes = "new-episodes"
    }

    @Argument(help: "The cassette, a JSON file.")
    var file: String

    @Option(help: "What happens to requests that the cassette does not hold.")
    var mode = Mode.once

    @Option(name: .customLong("repeat"), help: "What answers once all equal exchanges are used up: nothing, the last one, or all again.")
    var repetition = Repetition.never

    @OptionGroup var proxy: ProxyOptions
    @OptionGroup var tls: TLSOptions
    @OptionGroup var upstreamTLS: UpstreamTLSOptions
    @OptionGroup var recording: RecordOptions

    @Argument(parsing: .postTerminator, help: "The program to run through the proxy; without one the proxy runs until Ctrl-C.")
    var command: [String] = []

    /// The run that the command line asks for.
    var proxyRun: ProxyRun {
        let mode: RecordMode =
            switch self.mode {
            case .once: .once
            case .newEpisodes: .newEpisodes
            }
        return ProxyRun(
            file: self.file, mode: mode, repetition: self.repetition, proxy: self.proxy, tls: self.tls, upstreamTLS: self.upstreamTLS,
            recording: self.recording, command: self.command)
    }

    func validate() throws { try self.tls.validate(with: self.command) }

    func run() throws { try self.proxyRun.run() }
}
