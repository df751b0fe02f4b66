internal import ArgumentParser
internal import CassetteModel
internal import CassettePlayback
internal import CassetteStore

struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print a recorded request as a command that sends it again.",
        discussion: """
            The command is for sh. Data that do not fit into a command line come from files: --files writes them, and without it a \
            comment says how to.

            Examples:
              wiretape show Cassettes/pets.json 3 --curl
              wiretape show Cassettes/pets.json 3 --curl --files pets-3 | sh
            """)

    @Argument(help: "The cassette, a JSON file.")
    var file: String

    @Argument(help: ArgumentHelp("The number of one exchange, in order of request start.", valueName: "n"))
    var number: Int

    @Flag(help: "A command line of curl.")
    var curl = false

    @Option(help: ArgumentHelp("Write the files that the command needs into this folder.", valueName: "dir"))
    var files: String?

    @Flag(help: "With --files, replace files that are there already.")
    var overwrite = false

    func validate() throws {
        guard self.curl else { throw ValidationError("say which form to print: --curl.") }
        if self.overwrite, self.files == nil { throw ValidationError("--overwrite needs --files.") }
    }

    func run() throws {
        SignalThread.unblock()
        try self.show()
    }

    /// Without a word on signals, which belong to the process.
    func show() throws {
        do {
            let cassette = try RecordedCassette(path: self.file)
            if let damage = cassette.damage { Terminal.error.complain(damage.summary + ".") }
            let output = try OutputFile(path: nil)
            let inspection = Inspection(
                cassette: cassette, file: self.file, screen: .current, write: output.write, warn: Terminal.error.complain)
            try inspection.curl(self.number, files: self.files, overwrites: self.overwrite)
            try output.finish()
        } catch let error as CassetteError {
            try Self.fail(error.message)
        } catch let error as InspectError {
            try Self.fail(error.message)
        }
    }

    private static func fail(_ message: String) throws -> Never {
        Terminal.error.complain(message)
        throw ExitCode(ExitStatus.failed)
    }
}
