internal import ArgumentParser
internal import Logging
internal import TapeProxy

/// What every command that listens takes: its event loops, and a log for a person who debugs a run.
struct ServerOptions: ParsableArguments {
    static let loopCounts = 1...64

    /// Those of swift-log that this tool writes.
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
            "Event loops that connections are spread over, a thread each. Default: one for each core, at most 4.", valueName: "number"))
    var loops: Int?

    @Option(
        help: ArgumentHelp(
            "Add what happens, a line each, to the end of a file: connections, decisions, failures; no paths, header values or bodies.",
            valueName: "file"))
    var log: String?

    @Option(help: ArgumentHelp("How much --log writes: trace, debug, info, warning or error. Default: debug.", valueName: "level"))
    var logLevel: Level?

    func validate() throws {
        guard self.loops.map({ Self.loopCounts.contains($0) }) ?? true else { throw ValidationError("--loops takes 1 to 64.") }
        guard self.logLevel == nil || self.log != nil else { throw ValidationError("--log-level goes together with --log FILE.") }
    }

    /// The event loops that were asked for.
    var provider: EventLoopProvider { self.loops.map { .own($0) } ?? .standard }

    /// Opens the log that was asked for, before anything listens.
    ///
    /// - Parameters:
    ///   - cassette: the file that is read or written meanwhile.
    ///   - servesSessions: any JSON file may be asked for as a cassette.
    func openLog(beside cassette: String? = nil, servesSessions: Bool = false) throws(SettingError) -> LogFile? {
        guard let log else { return nil }
        if let cassette, WholeFile.areSame(log, cassette) {
            throw SettingError("\"\(log)\" is the cassette itself: give another --log.")
        }
        if servesSessions, log.hasSuffix(".json") {
            throw SettingError("\"\(log)\" could be the cassette of a session: give a --log with another ending, as run.log.")
        }
        return try LogFile(path: log, level: (self.logLevel ?? .debug).level)
    }
}
