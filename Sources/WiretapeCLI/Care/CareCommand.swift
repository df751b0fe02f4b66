internal import ArgumentParser
internal import CassetteModel
internal import CassettePlayback
internal import CassetteStore
internal import CassetteTools
internal import TapeBytes
internal import TapeProxy
internal import TapeRecorder

/// The common part of the commands that maintain cassettes: how they fail, and how they read.
enum CareCommand {
    /// - Parameter failure: the exit code if it fails.
    static func run<Value>(failure: Int32 = ExitStatus.trouble, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            guard let message = CommandEnd.message(of: error) else { throw error }
            Terminal.error.complain(message)
        }
        throw ExitCode(failure)
    }

    /// Reports recordings that should have replaced a cassette but did not.
    ///
    /// - Parameter other: another file that the command is about.
    static func mentionRecordings(beside path: String, other: String? = nil) {
        for recording in CassettePlace.leftRecordings(beside: path) where recording.path != other {
            Terminal.error.complain(recording.notice)
        }
    }

    /// Reads a torn cassette as far as it is intact, with a warning.
    static func cassette(_ path: String, _ schema: ProtoSchema? = nil) throws(CassetteError) -> RecordedCassette {
        let cassette = try RecordedCassette(path: path, schema: schema)
        for notice in cassette.notices { Terminal.error.complain(notice) }
        return cassette
    }

    static func digest() -> any ContentDigest { FastSHA256() }

    /// The message for a signal that ends a command which replaces a cassette in one step.
    static func ended(_ file: String, done: String) -> String {
        "ended: \"\(file)\" is whole, as it was before or \(done): run the command again to be sure."
    }
}

struct MergeCommand: ParsableCommand, ReadsCassettes {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Make one cassette of several.",
        discussion: """
            Exchanges are put in order of their start and renumbered; their body files are copied. An exchange that several cassettes \
            hold, as copies of one recording do, is written once. If more than one cassette has rules in its head, these must be equal. Placeholders of secrets get other numbers if another cassette has the same ones. OUT must not exist yet; the other cassettes are not changed.

            s3://BUCKET/PREFIX/runs/RUN/ stands for all cassettes that were pushed with --shard RUN. They are fetched.

            Examples:
              wiretape merge Cassettes/all.json Cassettes/pets.json Cassettes/owners.json
              wiretape merge Cassettes/all.json s3://tapes/shop/runs/nightly-42/
            """)

    @Argument(help: ArgumentHelp("The cassette to write.", valueName: "out"), completion: .file())
    var output: String

    @Argument(help: ArgumentHelp("The cassettes to read.", valueName: "file"), completion: .file())
    var files: [String]

    @OptionGroup var fetching: FetchOptions

    mutating func forEachCassette(_ change: (inout String) throws -> Void) rethrows {
        for index in self.files.indices { try change(&self.files[index]) }
    }

    mutating func expand(_ cassettes: (String) throws -> [String]) rethrows { self.files = try self.files.flatMap(cassettes) }

    func run() throws {
        // OUT gets its name only when it is complete, so a signal leaves no OUT.
        SignalThread.end(saying: "ended: \"\(self.output)\" was not written, and the others are as they were.")
        let (count, numbers) = try self.merge()
        let copies = count.left == 0 ? "" : "; \(Quantity.count(count.left, "further copy", plural: "further copies")) of them left out"
        Terminal.output.line(
            "merged \(Quantity.count(count.written, "exchange")) of \(Quantity.count(self.files.count, "cassette")) into \"\(VisibleText.line(self.output))\"\(copies)."
        )
        if !numbers.renumbered.isEmpty {
            let files = numbers.renumbered.map { "\"\(VisibleText.line($0))\"" }.joined(separator: ", ")
            Terminal.error.complain(
                "note: the placeholders of \(files) have other numbers in \"\(VisibleText.line(self.output))\". Each recording numbers its secrets itself, so equal placeholders had replaced different secrets."
            )
        }
        if let kept = numbers.kept {
            let more = kept.count - 1
            let others = more == 0 ? " keeps its number" : " and \(Quantity.count(more, "other placeholder")) keep their numbers"
            Terminal.error.complain(
                "note: \(VisibleText.line(kept.first))\(others), since there is no room for others. Equal placeholders may have replaced different secrets; a replay treats them as equal."
            )
        }
    }

    /// Does not touch signals, which belong to the process.
    func merge() throws -> (CassetteMerger.Count, MergedNumbers) {
        for file in self.files { CareCommand.mentionRecordings(beside: file) }
        let progress = ProgressLine(label: "merging")
        defer { progress.end() }
        return try CareCommand.run(failure: ExitStatus.failed) {
            let numbers = try MergedNumbers(self.files) { progress.show($0, of: $1) }
            defer { numbers.remove() }
            let merger = try CassetteMerger(numbers.files, digest: CareCommand.digest)
            let count = try merger.write(to: self.output, recorder: "wiretape \(Version.current)") { progress.show($0, of: $1) }
            return (count, numbers)
        }
    }
}

struct PruneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove exchanges that a replay did not use from a cassette.",
        discussion: """
            The report is the JSON file that "wiretape replay --report FILE.json" wrote. The remaining exchanges keep their ids. Bodies \
            beside the cassette that no exchange refers to any more are removed.

            Examples:
              wiretape replay Cassettes/pets.json --report report.json -- npm test
              wiretape prune Cassettes/pets.json --unused-from report.json --dry-run
              wiretape prune Cassettes/pets.json --unused-from report.json
            """)

    @Argument(help: "The cassette, a JSON file.", completion: .file())
    var file: String

    @Option(help: ArgumentHelp("The report of a replay of this cassette.", valueName: "report.json"), completion: .file())
    var unusedFrom: String

    @Flag(help: "Only print what would be removed.")
    var dryRun = false

    func run() throws {
        // A signal leaves the old cassette or the new one, never half of each.
        SignalThread.end(saying: CareCommand.ended(self.file, done: "pruned"))
        try self.prune()
    }

    /// Does not touch signals, which belong to the process.
    func prune() throws {
        CareCommand.mentionRecordings(beside: self.file)
        let outcome = try CareCommand.run(failure: ExitStatus.failed) {
            let text: [UInt8]
            do throws(TrustError) {
                text = try WholeFile.read(self.unusedFrom, limit: UnusedReport.sizeLimit)
            } catch {
                throw CassetteError(.unreadable, error.message, cause: error)
            }
            let report = try UnusedReport(text, path: self.unusedFrom)
            return try CassettePruner(path: self.file, exchanges: report.exchanges).run(
                isDry: self.dryRun, recorder: "wiretape \(Version.current)")
        }
        for exchange in outcome.removed { Terminal.output.line(DiffPage.line("-", exchange)) }
        let verb = self.dryRun ? "would remove" : "removed"
        var text = "\(verb) \(Quantity.count(outcome.removed.count, "exchange")) from \"\(VisibleText.line(self.file))\""
        if outcome.removedFiles > 0 { text += " and \(Quantity.count(outcome.removedFiles, "file")) beside it" }
        Terminal.output.line("\(text); \(outcome.kept) \(self.dryRun ? "would stay" : "left").")
    }
}

struct RedactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redact",
        abstract: "Remove secrets from a cassette that was recorded with them.",
        discussion: """
            Recordings are redacted by default. A secret is replaced wherever it appears, also in the files beside the cassette, and \
            the rules are kept in the cassette for replays. The new file replaces the old one in one step. Earlier commits still \
            contain the secrets.

            Examples:
              wiretape redact Cassettes/pets.json --dry-run
              wiretape redact Cassettes/pets.json --redact json:/user/email --keep header:x-api-key
            """)

    @Argument(help: "The cassette, a JSON file.", completion: .file())
    var file: String

    @OptionGroup var redaction: SettingOptions<RedactionGroup>

    @OptionGroup var names: DescriptorOptions

    @Flag(help: "Only print what would be replaced.")
    var dryRun = false

    @Option(
        help: ArgumentHelp(
            "What fails (exit code 6) besides a secret that is left: unsearched, if something could not be searched for secrets; or none. Default: none.",
            valueName: "reason"))
    var failOn: UnsearchedRule = .none

    /// Whether something that could not be searched for secrets is a failure.
    enum UnsearchedRule: String, ExpressibleByArgument, CaseIterable {
        case unsearched, none
    }

    func run() throws {
        // A signal leaves the old cassette or the new one, never half of each.
        SignalThread.end(saying: CareCommand.ended(self.file, done: "redacted"))
        let outcome = try self.redact()
        Terminal.output.line(self.summary(outcome))
        if let words = outcome.unsearched.words {
            Terminal.error.complain("\"\(self.file)\": \(words): check these bodies, or record them in a coding that Wiretape knows.")
        }
        for words in outcome.namedDigests.words + outcome.spreadSecrets { Terminal.error.complain("\"\(self.file)\": \(words)") }
        guard outcome.leaks.isEmpty else {
            for leak in outcome.leaks { Terminal.error.complain("still in \"\(self.file)\": \(leak)") }
            throw ExitCode(ExitStatus.leak)
        }
        if self.failOn == .unsearched, outcome.unsearched.count > 0 { throw ExitCode(ExitStatus.leak) }
    }

    /// Does not touch signals, which belong to the process.
    func redact() throws -> CassetteRedaction.Outcome {
        CareCommand.mentionRecordings(beside: self.file)
        let progress = ProgressLine(label: "redacting")
        defer { progress.end() }
        for name in self.redaction.missing() { Terminal.error.complain(Self.missing(name)) }
        do {
            return try CassetteRedaction.redact(
                self.file, rules: try self.redaction.redactionRules(), version: Version.current, dryRun: self.dryRun,
                schema: try self.names.schema(), digest: { FastSHA256() }, notice: { Terminal.error.complain($0) },
                progress: { progress.show($0, of: $1) })
        } catch let error as CassetteError {
            Terminal.error.complain(CommandEnd.message(of: error) ?? error.message)
            throw ExitCode(ExitStatus.failed)
        }
    }

    static func missing(_ name: String) -> String {
        "the environment has no \"\(name)\", so its value cannot be searched for: export it, or omit --secret-env \(name)."
    }

    func summary(_ outcome: CassetteRedaction.Outcome) -> String {
        let all = "\(Quantity.count(outcome.exchanges, "exchange")) of \"\(VisibleText.line(self.file))\""
        guard outcome.changed > 0 else { return "nothing to redact in \(all)." }
        let kinds = outcome.kinds.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        let places = Quantity.count(outcome.places, "place")
        let done = self.dryRun ? "would redact" : "redacted"
        return "\(done) \(places) in \(outcome.changed) of \(all)\(kinds.isEmpty ? "" : ": \(kinds)")."
    }
}

struct DecodeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode",
        abstract: "Decode bodies that were stored raw, and repair a cassette whose recorder was killed.",
        discussion: """
            If recording cannot keep up with traffic, compressed bodies are stored as received. They are decoded when the cassette \
            is closed; this command decodes them in a cassette that was not closed. It also cuts off a torn end, whose bytes it keeps \
            in FILE.torn-1, and takes in conversations that were still open.

            Example:
              wiretape decode Cassettes/pets.json
            """, aliases: ["develop"])

    @Argument(help: "The cassette, a JSON file.", completion: .file())
    var file: String

    func run() throws {
        // A signal leaves the old cassette or the new one, never half of each.
        SignalThread.end(saying: CareCommand.ended(self.file, done: "decoded"))
        Terminal.output.line("decoded \(Quantity.count(try self.decode(), "exchange")) in \"\(VisibleText.line(self.file))\".")
        let unreadable = try CareCommand.run(failure: ExitStatus.failed) {
            try CassetteFinisher.unreadableBodies(in: self.file) { FastSHA256() }
        }
        for body in unreadable.prefix(Self.shown) { Terminal.error.complain("exchange \(body.exchange) stays raw: \(body.reason)") }
        guard !unreadable.isEmpty else { return }
        Terminal.error.complain(
            "the body of \(Quantity.count(unreadable.count, "exchange")) cannot be read: restore the folder of bodies from a copy, or record again."
        )
        throw ExitCode(ExitStatus.failed)
    }

    /// How many unreadable bodies are listed.
    private static let shown = 20

    /// Does not touch signals, which belong to the process.
    ///
    /// - Returns: how many exchanges were decoded.
    func decode() throws -> Int {
        CareCommand.mentionRecordings(beside: self.file)
        let progress = ProgressLine(label: "decoding")
        do {
            let count = try CassetteFinisher.decode(
                self.file, version: Version.current, digest: { FastSHA256() }, notice: { Terminal.error.complain($0) },
                progress: { progress.show($0, of: $1) })
            progress.end()
            return count
        } catch let error as CassetteError {
            progress.end()
            Terminal.error.complain(CommandEnd.message(of: error) ?? error.message)
            throw ExitCode(ExitStatus.failed)
        }
    }
}
