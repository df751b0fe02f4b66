internal import ArgumentParser
internal import CassetteModel
internal import CassetteTools

struct MergeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Make one cassette of several.",
        discussion: """
            Exchanges are put in order of their start and numbered anew; the bodies beside the cassettes are copied. Rules in the \
            cassettes' heads have to be equal where both have them. OUT must not be there yet; the other cassettes stay as they are.

            Examples:
              wiretape merge Cassettes/all.json Cassettes/pets.json Cassettes/owners.json
            """)

    @Argument(help: ArgumentHelp("The cassette to write.", valueName: "out"))
    var output: String

    @Argument(help: ArgumentHelp("The cassettes to read.", valueName: "file"))
    var files: [String]

    func run() throws {
        // Where a signal ends it there is no OUT: it takes its name when it is whole.
        SignalThread.unblock()
        let count = try self.merge()
        Terminal.output.line(
            "merged \(Quantity.count(count, "exchange")) of \(Quantity.count(self.files.count, "cassette")) into \"\(VisibleText.line(self.output))\"."
        )
    }

    /// Without a word on signals, which belong to the process.
    ///
    /// - Returns: how many exchanges were written.
    func merge() throws -> Int {
        let progress = ProgressLine(label: "merging")
        defer { progress.end() }
        return try CareCommand.run(failure: ExitStatus.failed) {
            try CassetteMerger(self.files, digest: CareCommand.digest).write(to: self.output, recorder: "wiretape \(Version.current)") {
                progress.show($0, of: $1)
            }
        }
    }
}
