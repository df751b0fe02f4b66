internal import ArgumentParser
internal import CassetteModel
internal import TapeProxy
internal import TapeRecorder

struct RedactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redact",
        abstract: "Take secrets out of a cassette that was recorded with them.",
        discussion: """
            Recording does this by itself. What stands in the cassette is replaced wherever it appears, also in the files beside it, and \
            the rules are kept in the cassette for replays. The old file gives its place to the new one in one step; what an earlier \
            commit holds, it goes on to hold.

            Examples:
              wiretape redact Cassettes/pets.json --dry-run
              wiretape redact Cassettes/pets.json --redact json:/user/email --keep header:x-api-key
            """)

    @Argument(help: "The cassette, a JSON file.")
    var file: String

    @OptionGroup var redaction: RedactionOptions

    @Flag(help: "Say what would be replaced, and change nothing.")
    var dryRun = false

    func run() throws {
        // Where a signal ends it the cassette is the old one or the new one, never half of each.
        SignalThread.unblock()
        let outcome = try self.redact()
        Terminal.output.line(self.summary(outcome))
        guard outcome.leaks.isEmpty else {
            for leak in outcome.leaks { Terminal.error.complain("still in \"\(self.file)\": \(leak)") }
            throw ExitCode(ExitStatus.leak)
        }
    }

    /// Without a word on signals, which belong to the process.
    func redact() throws -> CassetteRedaction.Outcome {
        let progress = ProgressLine(label: "redacting")
        defer { progress.end() }
        for name in self.redaction.missing() { Terminal.error.complain(Self.missing(name)) }
        do {
            return try CassetteRedaction.redact(
                self.file, rules: try self.redaction.redactionRules(), version: Version.current, dryRun: self.dryRun,
                digest: { FastSHA256() }
            ) { progress.show($0, of: $1) }
        } catch let error as CassetteError {
            Terminal.error.complain(error.message)
            throw ExitCode(ExitStatus.failed)
        }
    }

    static func missing(_ name: String) -> String {
        "the environment has no \"\(name)\", so its value is not looked for: export it, or leave out --secret-env \(name)."
    }

    func summary(_ outcome: CassetteRedaction.Outcome) -> String {
        let all = "\(Quantity.count(outcome.exchanges, "exchange")) of \"\(self.file)\""
        guard outcome.changed > 0 else { return "nothing to redact in \(all)." }
        let kinds = outcome.kinds.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        let places = Quantity.count(outcome.places, "place")
        let done = self.dryRun ? "would redact" : "redacted"
        return "\(done) \(places) in \(outcome.changed) of \(all)\(kinds.isEmpty ? "" : ": \(kinds)")."
    }
}
