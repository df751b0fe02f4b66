internal import ArgumentParser
internal import TapeProxy

struct CheckCommand: ParsableCommand, ReadsCassettes {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Send the recorded requests again, and show what has changed.",
        discussion: """
            Sends each request to its origin, in recorded order, and compares the answer with the recorded one by the rules of \
            "wiretape diff". The cassette is not changed. Only GET, HEAD and OPTIONS are sent, unless --unsafe-methods is given. \
            A request with a placeholder for a redacted value is sent only if --fill supplies the value; standard error \
            names each request that was not sent. Answers are redacted by the cassette's rules.

            Each difference has a grade, as in "wiretape diff"; --severity is the least that changes the exit code, such as "type" for \
            a weekly check of an API that may add fields.

            Exit codes: 0 no drift, 1 drift, 2 the check failed.

            Examples:
              wiretape check Cassettes/pets.json --against live
              wiretape check Cassettes/pets.json --against live --fill authorization:1=API_TOKEN
              wiretape check Cassettes/pets.json --against live --severity type
              wiretape check Cassettes/pets.json --against live --json
            """)

    /// The other side of the comparison.
    enum Against: String, ExpressibleByArgument, CaseIterable {
        case live
    }

    @Argument(help: "The cassette, a JSON file.", completion: .file())
    var file: String

    @Option(help: "What to compare with: \"live\" means the origins.")
    var against: Against

    @Flag(help: "Also send POST, PUT, DELETE and all other methods, which may change something.")
    var unsafeMethods = false

    @Option(
        help: ArgumentHelp(
            "Send the value of an environment variable instead of the placeholder of this kind and number. Repeatable.",
            valueName: "kind:number=name"),
        transform: { try PlaceholderFill.Source($0) })
    var fill: [PlaceholderFill.Source] = []

    @Flag(help: "Also show what differs from one recording to the next.")
    var all = false

    @OptionGroup var severity: SeverityOptions

    @Option(help: ArgumentHelp("Seconds to wait for an origin that sends nothing.", valueName: "seconds"))
    var timeout = 60

    @Flag(help: "Print a JSON array with an object for each exchange that differs.")
    var json = false

    @OptionGroup var upstreamTLS: UpstreamTLSOptions

    @OptionGroup var fetching: FetchOptions

    static let failure = ExitStatus.trouble

    mutating func forEachCassette(_ change: (inout String) throws -> Void) rethrows {
        try change(&self.file)
    }

    func validate() throws {
        guard (1...3600).contains(self.timeout) else { throw ValidationError("--timeout takes 1 to 3600 seconds.") }
    }

    func run() throws {
        SignalThread.unblock()
        guard try !self.check() else { throw ExitCode(ExitStatus.different) }
    }

    /// Does not touch signals, which belong to the process.
    ///
    /// - Returns: whether anything has changed that changes the exit code.
    func check() throws -> Bool {
        CareCommand.mentionRecordings(beside: self.file)
        return try CareCommand.run {
            let fill = try PlaceholderFill(self.fill)
            let output = try OutputFile(path: nil)
            var page = DiffPage(isJSON: self.json) { try output.write($0) }
            let progress = ProgressLine(label: "checking")
            let check = LiveCheck(
                path: self.file, allowsUnsafe: self.unsafeMethods, showsAll: self.all, seconds: self.timeout, upstreamTLS: self.upstreamTLS,
                fill: fill
            ) { Terminal.error.complain($0) }
            let outcome: LiveCheck.Outcome
            do {
                outcome = try check.run(progress: { progress.show($0, of: $1) }) { try page.append($0) }
                progress.end()
            } catch {
                progress.end()
                throw error
            }
            try page.finish(
                "\(outcome.same) the same, \(outcome.changed) changed, \(outcome.unanswered) not answered, \(outcome.leftOut) not sent.")
            try output.finish()
            guard outcome.leftOut == 0 || outcome.sent > 0 else {
                throw SettingError("nothing was sent, so nothing was checked: the lines above say what each exchange needs.")
            }
            return page.isAtLeast(self.severity.severity ?? .value)
        }
    }
}
