internal import ArgumentParser
internal import TapeCore

struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show what a cassette holds.",
        discussion: """
            Lists the exchanges, or shows the one of that number in full. Control characters in what was recorded are spelled out; \
            --body writes a body's octets as they are, without their codings.

            Examples:
              wiretape inspect Cassettes/pets.json
              wiretape inspect Cassettes/pets.json 3
              wiretape inspect Cassettes/pets.json 3 --body response > pet.jpg
              wiretape inspect Cassettes/pets.json --json
            """)

    @Argument(help: "The cassette, a JSON file.")
    var file: String

    @Argument(help: ArgumentHelp("The number of one exchange, in order of request start.", valueName: "n"))
    var number: Int?

    @Flag(help: "The list as a JSON array; with a number, the exchange as it stands in the cassette.")
    var json = false

    @Option(help: ArgumentHelp("Write the decoded body of the request or the response, and nothing else.", valueName: "message"))
    var body: MessageChoice?

    func validate() throws {
        guard let body = self.body else { return }
        guard self.number != nil else { throw ValidationError("--body \(body.rawValue) needs the number of an exchange.") }
        guard !self.json else { throw ValidationError("--body and --json do not go together.") }
    }

    func run() throws {
        SignalThread.unblock()
        try self.inspect()
    }

    /// Without a word on signals, which belong to the process.
    func inspect() throws {
        do {
            let cassette = try RecordedCassette(path: self.file)
            if let damage = cassette.damage { Terminal.error.complain(damage.summary + ".") }
            let output = try OutputFile(path: nil)
            let inspection = Inspection(
                cassette: cassette, file: self.file, screen: .current, write: output.write, warn: Terminal.error.complain)
            // What was shown before an error is worth seeing.
            let result = Result { try self.show(inspection) }
            try output.finish()
            try result.get()
        } catch let error as CassetteError {
            try Self.fail(error.message)
        } catch let error as InspectError {
            try Self.fail(error.message)
        }
    }

    private func show(_ inspection: Inspection) throws {
        switch (self.number, self.body) {
        case (nil, _): self.json ? try inspection.listJSON() : try inspection.list()
        case (let number?, let body?): try inspection.body(body, of: number)
        case (let number?, nil): self.json ? try inspection.showJSON(number) : try inspection.show(number)
        }
    }

    private static func fail(_ message: String) throws -> Never {
        Terminal.error.complain(message)
        throw ExitCode(ExitStatus.failed)
    }
}

extension MessageChoice: ExpressibleByArgument {}
