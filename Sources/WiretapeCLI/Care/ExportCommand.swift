internal import ArgumentParser
internal import CassetteFormat
internal import CassetteModel
internal import CassettePlayback
internal import CassetteTools

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write a cassette in a format that other tools read.",
        discussion: """
            Bodies of gRPC are exported as the bytes of the wire, in base64. Names of fields, and the order in which both sides of \
            a conversation spoke, have no place in an HTTP Archive. Messages of WebSockets and events are exported as browsers do.

            Examples:
              wiretape export Cassettes/pets.json --har > pets.har
              wiretape export Cassettes/pets.json --har --output pets.har
            """)

    @Argument(help: "The cassette, a JSON file.")
    var file: String

    @Flag(help: "HTTP Archive 1.2.")
    var har = false

    @Option(name: .shortAndLong, help: "The file to write. Default: standard output.")
    var output: String?

    func validate() throws {
        guard self.har else { throw ValidationError("pass the format to write: --har.") }
    }

    func run() throws {
        SignalThread.unblock()
        try self.export()
    }

    /// Does not touch signals, which belong to the process.
    func export() throws {
        do {
            let cassette = try RecordedCassette(path: self.file)
            for notice in cassette.notices { Terminal.error.complain(notice) }
            let sink = try OutputFile(path: self.output, from: self.file)
            var writer = HARWriter(bodies: CassetteBodySource(path: self.file)) { try sink.write($0) }
            try writer.begin(creator: "wiretape", version: Version.current, kept: cassette.headMember("har"))
            for index in 0..<cassette.count { try writer.append(cassette.interaction(at: index)) }
            try writer.end()
            try sink.finish()
        } catch let error as CassetteError {
            Terminal.error.complain(error.message)
            throw ExitCode(ExitStatus.failed)
        }
    }
}
