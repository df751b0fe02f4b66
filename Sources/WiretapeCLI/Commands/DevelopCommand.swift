internal import ArgumentParser
internal import TapeCore
internal import TapeProxy

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
        let progress = ProgressLine(label: "developing")
        let count: Int
        do {
            count = try CassetteFinisher.develop(self.file, version: Version.current) { progress.show($0, of: $1) }
        } catch let error as CassetteError {
            progress.end()
            Terminal.error.line("wiretape: \(error.message)")
            throw ExitCode(ExitStatus.failed)
        }
        progress.end()
        Terminal.output.line("developed \(Quantity.count(count, "exchange")) in \(self.file).")
    }
}
