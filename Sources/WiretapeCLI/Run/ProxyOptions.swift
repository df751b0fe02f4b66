public import ArgumentParser
internal import CassetteModel
internal import Logging
public import TapeProxy

/// The options of the proxy that `record`, `replay` and `run` share.
struct ProxyOptions {
    let settings: RunSettings
    let reach: ReachOptions
    let server: ServerOptions
    let page: WebOptions

    init(
        _ listening: SettingOptions<ListenGroup>, _ proxying: SettingOptions<ProxyGroup>, _ reach: ReachOptions, _ server: ServerOptions,
        _ page: WebOptions
    ) {
        self.settings = proxying.lay(over: listening.settings)
        (self.reach, self.server, self.page) = (reach, server, page)
    }

    var transparent: Bool { self.reach.transparent }
    var allowRemote: Bool { self.reach.allowRemote }
    var proxyAuth: String? { self.reach.proxyAuth }
    var qr: Bool { self.reach.qr }
    var quiet: Bool { self.reach.quiet }
    var verbose: Bool { self.reach.verbose }
    var json: Bool { self.reach.json }
}

/// The clients that can reach the proxy, and its output.
struct ReachOptions: ParsableArguments {
    @Flag(
        help: "Also take connections that the kernel leads here: \"wiretape env --transparent\" prints the rules for that (Linux).")
    var transparent = false

    @Flag(help: "Accept clients from other machines; needs --proxy-auth.")
    var allowRemote = false

    @Option(
        help: ArgumentHelp(
            "User and password that clients must send. WIRETAPE_PROXY_AUTH is safer, because every user of the machine can see arguments.",
            valueName: "user:password"))
    var proxyAuth: String?

    @Flag(help: "Show a QR code that leads a phone to the authority's certificate. Default: with --allow-remote on a terminal.")
    var qr = false

    @Flag(name: .shortAndLong, help: "Print only errors.")
    var quiet = false

    @Flag(
        name: .shortAndLong,
        help:
            "Print a line for each exchange, and the proxy's address even if a program is run. Default: lines without a program on a terminal."
    )
    var verbose = false

    @Flag(help: "Print the summary as one JSON line on standard error.")
    var json = false

    func validate() throws {
        #if !os(Linux)
        guard !self.transparent else {
            throw ValidationError("--transparent works only on Linux: run the program after \"--\", or set its proxy.")
        }
        #endif
        guard !(self.quiet && self.verbose) else { throw ValidationError("--quiet and --verbose cannot be used together.") }
    }
}

/// The options of every command that listens: its event loops, and a log for debugging.
struct ServerOptions: ParsableArguments {
    static let loopCounts = 1...64

    /// The levels of swift-log that this tool writes.
    enum Level: String, ExpressibleByArgument, CaseIterable {
        case trace, debug, info, warning, error

        fileprivate var level: Logger.Level {
            switch self {
            case .trace: .trace
            case .debug: .debug
            case .info: .info
            case .warning: .warning
            case .error: .error
            }
        }
    }

    @Option(
        help: ArgumentHelp(
            "Number of event loops, each with its own thread. Default: one for each core, at most 4.", valueName: "number"))
    var loops: Int?

    @Option(
        help: ArgumentHelp(
            "Append a line for each event to a file: connections, decisions, failures; no paths, header values or bodies.",
            valueName: "file"), completion: .file())
    var log: String?

    @Option(help: ArgumentHelp("How much --log writes: trace, debug, info, warning or error. Default: debug.", valueName: "level"))
    var logLevel: Level?

    func validate() throws {
        guard self.loops.map({ Self.loopCounts.contains($0) }) ?? true else { throw ValidationError("--loops takes 1 to 64.") }
        guard self.logLevel == nil || self.log != nil else { throw ValidationError("--log-level needs --log FILE.") }
    }

    /// The event loops that the options ask for.
    var provider: EventLoopProvider { self.loops.map { .own($0) } ?? .standard }

    /// Opens the log that the options ask for; call before anything listens.
    ///
    /// - Parameters:
    ///   - cassette: the file that the run reads or writes.
    ///   - servesSessions: whether a session may ask for any JSON file as its cassette.
    func openLog(beside cassette: String? = nil, servesSessions: Bool = false) throws(SettingError) -> LogFile? {
        guard let log else { return nil }
        if let cassette, WholeFile.areSame(log, cassette) {
            throw SettingError("\"\(log)\" is the cassette itself: choose another --log.")
        }
        if servesSessions, log.hasSuffix(".json") {
            throw SettingError("\"\(log)\" could be the cassette of a session: choose a --log with another extension, such as run.log.")
        }
        return try LogFile(path: log, level: (self.logLevel ?? .debug).level)
    }
}

extension ListenAddress: ExpressibleByArgument {}
