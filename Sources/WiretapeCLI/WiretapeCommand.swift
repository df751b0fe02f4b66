internal import ArgumentParser
internal import CassetteModel
internal import TapeProxy

@main
struct WiretapeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wiretape",
        abstract: "Records a program's HTTP traffic into a readable cassette and plays it back.",
        discussion: """
            Examples:
              wiretape record Cassettes/pets.json -- python3 client.py
              wiretape replay Cassettes/pets.json -- python3 client.py
              wiretape run Cassettes/pets.json -- python3 client.py
              wiretape inspect Cassettes/pets.json 3

            Exit codes: 0 done, 1 failed, 3 a replay had misses, 4 exchanges were unused, 5 requests came out of order (4 and 5 if \
            --fail-on names them), 6 a secret is in the cassette, 7 the cassette is too old, 8 a traffic rule did nothing, 9 the client \
            is at fault, 10 an isolated program tried to get past the proxy, 11 an upload is broken (8 to 11 if --fail-on names them), 64 wrong \
            usage; of verify, diff, check and lint: 0 nothing found, 1 something found, 2 failed. With a command after "--", its own exit code \
            comes first if it is not 0; otherwise the smallest.
            """,
        version: Version.current,
        subcommands: [
            RecordCommand.self, ReplayCommand.self, RunCommand.self, ServeCommand.self, IsolateCommand.self, AgentCommand.self,
            InspectCommand.self, ShowCommand.self, LintCommand.self, TailCommand.self,
            ImportCommand.self, ExportCommand.self, DecodeCommand.self, RedactCommand.self, VerifyCommand.self, DiffCommand.self,
            SuggestCommand.self, MergeCommand.self,
            PruneCommand.self, CheckCommand.self, PushCommand.self, PullCommand.self, StoreCommand.self, GitCommand.self,
            ConfigCommand.self, CACommand.self, EnvCommand.self, PingCommand.self, DoctorCommand.self,
        ]
    )

    static func main() {
        NamespaceEntry.runIfAsked()
        StandardStreams.fill()
        StartDescriptors.note()
        MemorySettings.apply()
        SignalThread.block()
        let openFiles = OpenFileLimit.raise()
        let arguments = Array(ProgramArguments.all.dropFirst())
        guard !arguments.isEmpty else { return Terminal.output.line(self.firstSteps) }
        if let problem = ProgramArguments.problem ?? CommandSuggestion.problem(arguments, in: self) {
            Terminal.error.complain(problem)
            self.exit(withError: ExitCode(ExitStatus.usage))
        }
        do {
            var command = try self.parseAsRoot(arguments)
            self.check(openFiles: openFiles, for: command)
            if var reading = command as? any ParsableCommand & ReadsCassettes {
                try CassettePointers.resolve(in: &reading)
                command = reading
            }
            try command.run()
        } catch {
            guard self.exitCode(for: error).isSuccess else {
                if self.exitCode(for: error) == .validationFailure, let problem = CommandSuggestion.unknownOption(arguments, in: self) {
                    Terminal.error.complain(problem)
                    self.exit(withError: ExitCode(ExitStatus.usage))
                }
                if self.exitCode(for: error) == .validationFailure,
                    let problem = UsageProblem(
                        message: self.message(for: error), full: self.fullMessage(for: error), arguments: arguments, in: self)
                {
                    Terminal.error.complain(problem.text)
                    self.exit(withError: ExitCode(ExitStatus.usage))
                }
                self.exit(withError: error)
            }
            // A text that was requested, such as the help.
            let text = self.fullMessage(for: error)
            if !text.isEmpty { Terminal.output.line(HelpOrder.common(first: text)) }
        }
    }

    /// Suggestions for a person who has typed only the program's name.
    static let firstSteps = """
        wiretape record pets.json -- curl https://example.com/    record what a command requests
        wiretape replay pets.json -- curl https://example.com/    answer from the recording, without the network
        wiretape inspect pets.json                                look at what was recorded
        wiretape import session.har -o pets.json                  begin with a recording of another tool
        wiretape --help                                           all commands
        """

    /// Ends the process if it may open too few files. The exit code is that of the command's failures, since 1 means for some commands that
    /// they found something.
    private static func check(openFiles limit: Int, for command: any ParsableCommand) {
        let free = OpenFileLimit.free(of: limit)
        guard limit < OpenFileLimit.least || free < OpenFileLimit.leastFree else { return }
        let problem =
            limit < OpenFileLimit.least
            ? ", fewer than the \(OpenFileLimit.least) that are needed"
            : ", of which all but \(free) are open already; \(OpenFileLimit.leastFree) are needed"
        Terminal.error.complain("this process may open \(limit) files\(problem): raise the limit, as with: ulimit -n 1024")
        self.exit(withError: ExitCode((command as? any HasFailureStatus).map { type(of: $0).failure } ?? ExitStatus.failed))
    }
}
