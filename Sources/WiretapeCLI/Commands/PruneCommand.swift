internal import ArgumentParser
internal import CassetteModel
internal import CassetteTools

struct PruneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Take exchanges that a replay did not use out of a cassette.",
        discussion: """
            The report is the JSON file that "wiretape replay --report FILE.json" wrote. What is left keeps its ids. Bodies beside the \
            cassette that nothing names any more are removed.

            Examples:
              wiretape replay Cassettes/pets.json --report report.json -- npm test
              wiretape prune Cassettes/pets.json --unused-from report.json --dry-run
              wiretape prune Cassettes/pets.json --unused-from report.json
            """)

    @Argument(help: "The cassette, a JSON file.")
    var file: String

    @Option(help: ArgumentHelp("The report of a replay of this cassette.", valueName: "report.json"))
    var unusedFrom: String

    @Flag(help: "Only say what would be removed.")
    var dryRun = false

    func run() throws {
        // Where a signal ends it the cassette is the old one or the new one, never half of each.
        SignalThread.unblock()
        try self.prune()
    }

    /// Without a word on signals, which belong to the process.
    func prune() throws {
        let outcome = try CareCommand.run(failure: ExitStatus.failed) {
            let text: [UInt8]
            do throws(TrustError) {
                text = try WholeFile.read(self.unusedFrom, limit: UnusedReport.sizeLimit)
            } catch {
                throw CassetteError(.unreadable, error.message)
            }
            let report = try UnusedReport(text, path: self.unusedFrom)
            return try CassettePruner(path: self.file, exchanges: report.exchanges).run(
                isDry: self.dryRun, recorder: "wiretape \(Version.current)")
        }
        for exchange in outcome.removed { Terminal.output.line(DiffPage.line("-", exchange)) }
        let verb = self.dryRun ? "would remove" : "removed"
        var text = "\(verb) \(Quantity.count(outcome.removed.count, "exchange")) of \"\(VisibleText.line(self.file))\""
        if outcome.removedFiles > 0 { text += " and \(Quantity.count(outcome.removedFiles, "file")) beside it" }
        Terminal.output.line("\(text); \(outcome.kept) \(self.dryRun ? "would stay" : "left").")
    }
}
