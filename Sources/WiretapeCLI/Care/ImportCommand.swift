public import ArgumentParser
public import CassetteImport
internal import CassetteModel
internal import CassetteTools
internal import TapeBytes
internal import TapeProxy

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Make a cassette of what another tool recorded.",
        discussion: """
            Reads \(ImportKind.allCases.map(\.name).joined(separator: ", ")), also compressed with gzip. The format is detected from each file's \
            contents. Exchanges are put in order of their start, and secrets are redacted as in a recording. Anything a cassette cannot \
            represent is reported and counted. OUT must not exist.

            A file that cannot be read does not stop the others: it is reported, and the exit code is 1. With --strict, or if no file can be \
            read, nothing is written.

            Stubs of WireMock and Hoverfly name a request by what it equals; those that are patterns are left out.

            Examples:
              wiretape import session.har -o Cassettes/session.json
              wiretape import cassettes/*.yaml -o Cassettes/all.json
              wiretape import wiremock --host http://localhost:8080 -o Cassettes/stubs.json
              wiretape import one.har two.har -o Cassettes/both.json --strict
              wiretape import vcr/*.yml -o Cassettes/vcr.json --placeholder API_BASE=https://api.test
              wiretape replay Cassettes/session.json -- npm test
            """)

    @Argument(help: "The recordings to read.", completion: .file())
    var files: [String]

    @Option(name: .shortAndLong, help: ArgumentHelp("The cassette to write.", valueName: "out"), completion: .file())
    var output: String

    @Option(help: "The tool that made the recordings. Default: found by their content.")
    var from: ImportKind?

    @Option(help: ArgumentHelp("Scheme and host of stubs that name none. Default: http://localhost.", valueName: "url"))
    var host: String?

    @Option(
        help: ArgumentHelp(
            "The value of a placeholder, as <NAME> in cassettes of VCR and {{NAME}} in collections of Postman.", valueName: "name=value"))
    var placeholder: [String] = []

    @Flag(help: "Fail, and write nothing, if anything is lost.")
    var strict = false

    @Flag(help: "Print what was done as JSON on standard output.")
    var json = false

    @OptionGroup var redaction: SettingOptions<RedactionGroup>

    @Flag(help: "Keep secrets in the cassette: anyone who can read it can read them.")
    var noRedaction = false

    func validate() throws {
        if let host = self.host, !host.hasPrefix("http://") && !host.hasPrefix("https://") || host.hasSuffix("/") {
            throw ValidationError("--host takes a scheme and a host, such as http://localhost:8080.")
        }
        for pair in self.placeholder where pair.first == "=" || !pair.contains("=") {
            throw ValidationError("--placeholder takes a name without brackets and its value, such as API_BASE=https://api.test.")
        }
        var names: Set<String> = []
        for name in self.placeholder.map({ String($0.prefix { $0 != "=" }) }) where !names.insert(name).inserted {
            throw ValidationError("--placeholder gives \"\(name)\" two values: name one.")
        }
        guard !self.noRedaction || self.redaction.isEmpty else {
            throw ValidationError("--no-redaction cannot be used together with --redact, --keep or --secret-env.")
        }
    }

    func run() throws {
        let cancelled = Guarded(false)
        SignalThread.start { _ in
            cancelled.withLock { $0 = true }
            SignalThread.close(self.output)
        }
        try self.importAll { cancelled.withLock { $0 } }
    }

    /// Does not touch signals, which belong to the process.
    func importAll(isCancelled: () -> Bool = { false }) throws {
        try CommandEnd.run {
            for name in self.redaction.missing() { Terminal.error.complain(RedactCommand.missing(name)) }
            var options = ImportOptions()
            options.kind = self.from
            options.isStrict = self.strict
            for pair in self.placeholder {
                let name = pair.prefix { $0 != "=" }
                options.placeholders[String(name)] = String(pair.dropFirst(name.count + 1))
            }
            if let host = self.host { options.base = host }
            options.redaction = self.noRedaction ? nil : try self.redaction.redactionRules()
            let (reading, finishing) = (ProgressLine(label: "importing"), ProgressLine(label: "decoding"))
            defer {
                reading.end()
                finishing.end()
            }
            do {
                let report = try CassetteImporter(options, digest: { FastSHA256() }).run(
                    self.files, to: self.output, version: Version.current, isCancelled: isCancelled,
                    notify: { Terminal.error.complain($0) }, reading: { reading.show(Quantity.count($0, "exchange")) },
                    finishing: { done, count in
                        reading.end()
                        finishing.show(done, of: count)
                    })
                reading.end()
                finishing.end()
                return self.tell(report)
            } catch let error as StrictImportError {
                self.tell(error.losses)
                let count = error.losses.reduce(0) { $0 + $1.count }
                throw CassetteError(
                    .damaged,
                    "\(Quantity.count(count, "thing")) would be lost, which --strict does not allow: \"\(self.output)\" was not written. Import without --strict, or correct the recording."
                )
            }
        }
    }

    private func tell(_ losses: [ImportReport.Loss]) {
        for loss in losses {
            let times = loss.count == 1 ? "once" : "\(loss.count) times"
            Terminal.error.complain("\(times): \(loss.text) (\(loss.count == 1 ? "" : "the first at ")\(loss.first)).")
        }
    }

    private func tell(_ report: ImportReport) -> Int32 {
        for failure in report.failures { Terminal.error.complain(failure.message) }
        self.tell(report.losses)
        for leak in report.leaks {
            Terminal.error.complain(
                "a secret is still in \"\(self.output)\": \(leak); remove the file, or try \"wiretape redact \(self.output)\".")
        }
        if self.json {
            Terminal.output.line(Self.json(report, cassette: self.output))
        } else {
            let kinds = report.sources.reduce(into: [String]()) { if !$0.contains($1.kind.name) { $0.append($1.kind.name) } }
            Terminal.output.line(
                "imported \(Quantity.count(report.exchanges, "exchange")) of \(Quantity.count(report.sources.count, "file")) "
                    + "(\(kinds.joined(separator: ", "))) into \"\(VisibleText.line(self.output))\".")
        }
        if !report.leaks.isEmpty { return ExitStatus.leak }
        return report.failures.isEmpty ? ExitStatus.done : ExitStatus.failed
    }

    static func json(_ report: ImportReport, cassette: String) -> String {
        var writer = JSONWriter()
        writer.beginObject(.inline)
        writer.member("cassette")
        writer.string(cassette)
        writer.member("exchanges")
        writer.integer(report.exchanges)
        writer.member("files")
        writer.beginArray(.inline)
        for source in report.sources {
            writer.element()
            writer.beginObject(.inline)
            writer.member("file")
            writer.string(source.file)
            writer.member("kind")
            writer.string(source.kind.rawValue)
            writer.member("exchanges")
            writer.integer(source.exchanges)
            writer.endObject()
        }
        writer.endArray()
        writer.member("failures")
        writer.beginArray(.inline)
        for failure in report.failures {
            writer.element()
            writer.beginObject(.inline)
            writer.member("file")
            writer.string(failure.file)
            writer.member("message")
            writer.string(failure.message)
            writer.endObject()
        }
        writer.endArray()
        writer.member("losses")
        writer.beginArray(.inline)
        for loss in report.losses {
            writer.element()
            writer.beginObject(.inline)
            writer.member("kind")
            writer.string(loss.kind)
            writer.member("count")
            writer.integer(loss.count)
            writer.member("text")
            writer.string(loss.text)
            writer.member("first")
            writer.string(loss.first)
            writer.endObject()
        }
        writer.endArray()
        writer.member("leaks")
        writer.integer(report.leaks.count)
        writer.endObject()
        return VisibleText.whole(writer.bytes, .json)
    }
}

extension ImportKind: ExpressibleByArgument {}
