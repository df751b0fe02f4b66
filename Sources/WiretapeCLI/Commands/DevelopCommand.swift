internal import ArgumentParser
internal import CassetteModel
internal import TapeProxy
internal import TapeRecorder

struct DevelopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "develop",
        abstract: "Give bodies that were kept raw their readable form.",
        discussion: """
            While recording can't keep up with traffic, compressed bodies are kept as they came. They are developed when the cassette \
            closes; this does it for one that was not closed.

            Example:
              wiretape develop Cassettes/pets.json
            """)

    @Argument(help: "The cassette, a JSON file.")
    var file: String

    func run() throws {
        // Where a signal ends it the cassette is the old one or the new one, never half of each.
        SignalThread.unblock()
        Terminal.output.line("developed \(Quantity.count(try self.develop(), "exchange")) in \"\(self.file)\".")
    }

    /// Without a word on signals, which belong to the process.
    ///
    /// - Returns: how many exchanges were developed.
    func develop() throws -> Int {
        let progress = ProgressLine(label: "developing")
        do {
            let count = try CassetteFinisher.develop(self.file, version: Version.current, digest: { FastSHA256() }) {
                progress.show($0, of: $1)
            }
            progress.end()
            return count
        } catch let error as CassetteError {
            progress.end()
            Terminal.error.complain(error.message)
            throw ExitCode(ExitStatus.failed)
        }
    }
}
