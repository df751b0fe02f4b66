internal import ArgumentParser
internal import CassetteFormat
internal import CassetteModel
internal import CassettePlayback
internal import CassetteStore

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write a cassette in a format that other tools read.",
        discussion: """
            Examples:
              wiretape export Cassettes/pets.json --har > pets.har
              wiretape export Cassettes/pets.json --har --output pets.har
            """)

    @Argument(help: "The cassette, a JSON file.")
    var file: String

    @Flag(help: "HTTP Archive 1.2.")
    var har = false

    @Option(name: .shortAndLong, help: "The file to write; standard output without one.")
    var output: String?

    func validate() throws {
        guard self.har else { throw ValidationError("say which format to write: --har.") }
    }

    func run() throws {
        SignalThread.unblock()
        try self.export()
    }

    /// Without a word on signals, which belong to the process.
    func export() throws {
        do {
            let cassette = try RecordedCassette(path: self.file)
            if let damage = cassette.damage { Terminal.error.complain(damage.summary + ".") }
            let sink = try OutputFile(path: self.output, from: self.file)
            var writer = HARWriter(bodies: CassetteBodySource(path: self.file)) { try sink.write($0) }
            try writer.begin(creator: "wiretape", version: Version.current)
            for index in 0..<cassette.count { try writer.append(cassette.interaction(at: index)) }
            try writer.end()
            try sink.finish()
        } catch let error as CassetteError {
            Terminal.error.complain(error.message)
            throw ExitCode(ExitStatus.failed)
        }
    }
}
