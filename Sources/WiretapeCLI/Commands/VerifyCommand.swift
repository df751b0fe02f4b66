internal import ArgumentParser
internal import CassetteTools
internal import TapeProxy

struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check that a cassette and the bodies beside it are what was recorded.",
        discussion: """
            Reads every exchange and restores every body: sizes, digests, codings, the files beside the cassette and raw slices. \
            Changes nothing. Problems go to standard output, one a line; what is worth knowing and no problem, such as files that no \
            exchange names, to standard error.

            Exit codes: 0 no problem, 1 problems, 2 the cassette could not be read.

            Examples:
              wiretape verify Cassettes/pets.json
              wiretape verify Cassettes/pets.json --allow-edited
              wiretape verify Cassettes/pets.json --json | jq '.[].file'
            """)

    @Argument(help: "The cassette, a JSON file.")
    var file: String

    @Flag(help: "Bodies whose content was edited by hand are no problem: a replay sends them as they are now.")
    var allowEdited = false

    @Flag(help: "All that is found as a JSON array with an object on a line each.")
    var json = false

    func run() throws {
        SignalThread.unblock()
        guard try self.verify() == 0 else { throw ExitCode(ExitStatus.different) }
    }

    /// Without a word on signals, which belong to the process.
    ///
    /// - Returns: how many problems there are.
    func verify() throws -> Int {
        try CareCommand.run {
            let verifier = try CassetteVerifier(
                path: self.file, digest: CareCommand.digest, unanswerable: { ReplayCheck.problem(of: $0) })
            let output = try OutputFile(path: nil)
            var list = FindingList(isJSON: self.json, allowsEdited: self.allowEdited, write: { try output.write($0) }) {
                Terminal.error.complain($0)
            }
            let progress = ProgressLine(label: "verifying")
            defer { progress.end() }
            try verifier.run(progress: { progress.show($0, of: $1) }) { try list.append($0) }
            progress.end()
            try list.finish(count: verifier.count, of: self.file)
            try output.finish()
            return list.problems
        }
    }
}
