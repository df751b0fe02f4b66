public import ArgumentParser
internal import CassetteModel
internal import CassettePlayback
internal import CassetteStore
public import CassetteTools
internal import TapeBytes

struct DiffCommand: ParsableCommand, ReadsCassettes {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Show what differs between two cassettes, exchange by exchange.",
        discussion: """
            Exchanges are paired by their request, in order; those left over by method and URL without the query. Bodies are compared \
            by their content: JSON by pointer, forms by field, multipart bodies by part, others by the first byte that differs. \
            Ignored unless --all is given: times, ids, addresses, and header fields that differ in every answer, such as Date, \
            Server-Timing and X-Request-Id. Values of secrets are not shown.

            --upload compares the bodies of two requests part by part and byte by byte instead, for an upload that works and one that \
            does not: header fields as they were written, file names, line ends, boundaries, and what lint says of either. Parts belong \
            together by their names. Placeholders of secrets are compared as they are.

            Each difference has a grade, least first: "value" (another value of the same type), "added" (a field, member, part or \
            exchange that is new), "type" (another type of value, Content-Type, status or end), "removed" (one that is gone, or \
            cannot be compared). All are shown; --severity is the least that changes the exit code.

            Exit codes: 0 no difference, 1 differences, 2 a cassette could not be read.

            Examples:
              wiretape diff Cassettes/pets.json Cassettes/pets.new.json
              wiretape diff old.json new.json --all
              wiretape diff old.json new.json --severity type
              wiretape diff curl.json app.json --upload
              wiretape diff pets.json pets.json --upload --exchanges 3:7
              wiretape diff old.json new.json --json | jq '.[] | select(.kind == "changed")'
            """)

    @Argument(help: "The old cassette.", completion: .file())
    var old: String

    @Argument(help: "The new cassette.", completion: .file())
    var new: String

    @Flag(help: "Also show what differs from one recording to the next.")
    var all = false

    @OptionGroup var severity: SeverityOptions

    @Flag(help: "Compare two uploads part by part and byte by byte. Default: the first upload of each cassette.")
    var upload = false

    @Option(
        help: ArgumentHelp(
            "With --upload, the numbers of the exchanges to compare, in the old cassette and in the new.", valueName: "n:m"))
    var exchanges: ExchangePair?

    @OptionGroup var names: DescriptorOptions

    @Flag(help: "Print a JSON array with an object for each exchange that differs.")
    var json = false

    @OptionGroup var fetching: FetchOptions

    static let failure = ExitStatus.trouble

    mutating func forEachCassette(_ change: (inout String) throws -> Void) rethrows {
        try change(&self.old)
        try change(&self.new)
    }

    func validate() throws {
        if self.exchanges != nil, !self.upload { throw ValidationError("--exchanges needs --upload.") }
        if self.upload, self.severity.severity != nil {
            throw ValidationError("--upload and --severity cannot be used together: an upload has no grades.")
        }
        if self.upload, self.all { throw ValidationError("--upload and --all cannot be used together: it shows every difference.") }
    }

    func run() throws {
        SignalThread.unblock()
        guard try !(self.upload ? self.diffUploads() : self.diff()) else { throw ExitCode(ExitStatus.different) }
    }

    /// Does not touch signals, which belong to the process.
    ///
    /// - Returns: whether anything differs that changes the exit code.
    func diff() throws -> Bool {
        CareCommand.mentionRecordings(beside: self.old, other: self.new)
        return try CareCommand.run {
            let schema = try self.names.schema()
            let (old, new) = (try CareCommand.cassette(self.old, schema), try CareCommand.cassette(self.new, schema))
            let output = try OutputFile(path: nil)
            var page = DiffPage(isJSON: self.json) { try output.write($0) }
            let comparison = CassetteDiff(old: old, new: new, showsAll: self.all, digest: CareCommand.digest)
            let reading = ProgressLine(label: "reading")
            // Not among the differences, if these appear on the terminal as well.
            let comparing = Terminal.output.isTerminal ? nil : ProgressLine(label: "comparing")
            defer {
                reading.end()
                comparing?.end()
            }
            let same = try comparison.run(
                reading: { reading.show($0, of: $1) },
                comparing: { done, count in
                    reading.end()
                    comparing?.show(done, of: count)
                }, { try page.append($0) })
            reading.end()
            comparing?.end()
            try page.finish(same: same)
            try output.finish()
            return page.isAtLeast(self.severity.severity ?? .value)
        }
    }
}

extension Drift: ExpressibleByArgument {}

/// Which differences change the exit code.
struct SeverityOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The least grade of difference that changes the exit code. Default: value.", valueName: "grade"))
    var severity: Drift?
}

extension DiffCommand {
    /// Does not touch signals, which belong to the process.
    ///
    /// - Returns: whether anything differs.
    func diffUploads() throws -> Bool {
        try CareCommand.run {
            let (old, new) = (try CareCommand.cassette(self.old), try CareCommand.cassette(self.new))
            let one = try Self.upload(self.exchanges?.old, of: old, named: self.old)
            let other = try Self.upload(self.exchanges?.new, of: new, named: self.new)
            let comparison: UploadComparison
            do {
                comparison = try UploadComparison(one.side, other.side)
            } catch let error as InspectError {
                throw CassetteError(.notFound, error.message, cause: error)
            }
            let page = UploadDiffPage(comparison: comparison, names: (one.name, other.name))
            let output = try OutputFile(path: nil)
            var text = self.json ? page.json + "\n" : page.lines.joined(separator: "\n") + "\n"
            try text.withUTF8 { try output.write(UnsafeRawBufferPointer($0)) }
            try output.finish()
            return comparison.differs
        }
    }

    /// - Parameter number: from 1; nil for the first exchange whose body is multipart or should be.
    private static func upload(
        _ number: Int?, of cassette: RecordedCassette, named file: String
    ) throws -> (side: UploadComparison.Side, name: String) {
        let reader = BodyReader(cassettePath: cassette.path)
        func found(_ index: Int, _ interaction: Interaction) -> (side: UploadComparison.Side, name: String) {
            let request = "\(interaction.request.method) \(SecretShapes.shownURL(interaction.request.url))"
            return (
                UploadComparison.Side(interaction, reader: reader), VisibleText.line("exchange \(index + 1) of \"\(file)\", \(request)")
            )
        }
        if let number {
            guard number <= cassette.count else {
                throw CassetteError(
                    .notFound, "\"\(file)\" has \(Quantity.count(cassette.count, "exchange")), but no exchange \(number): choose another.")
            }
            return found(number - 1, try cassette.interaction(at: number - 1))
        }
        for index in 0..<cassette.count {
            let interaction = try cassette.interaction(at: index)
            guard let body = interaction.request.body, body.byteCount > 0 else { continue }
            let contents = try BodyContents(body, headers: interaction.request.headers, reader: reader, readsBroken: true)
            if try BodyParts(contents, headers: interaction.request.headers) != nil
                || MultipartType(interaction.request.headers) != nil
            {
                return found(index, interaction)
            }
        }
        throw CassetteError(
            .notFound, "no request in \"\(file)\" has a multipart body: name two exchanges with --exchanges, such as --exchanges 3:7.")
    }
}

extension ExchangePair: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }
}

/// The differences between two cassettes: for people as `-`, `+` and `~` with the fields below, or as JSON.
struct DiffPage {
    private let isJSON: Bool
    private let write: (String) throws -> Void
    private(set) var differs = false
    private var counts = (added: 0, removed: 0, changed: 0)
    private var drifts: [Drift: Int] = [:]
    private var writer = JSONWriter()

    init(isJSON: Bool, write: @escaping (UnsafeRawBufferPointer) throws -> Void) {
        self.isJSON = isJSON
        self.write = { text in
            var text = text
            try text.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
        }
    }

    mutating func append(_ entry: CassetteDiff.Entry) throws {
        if self.isJSON { try self.appendJSON(entry) } else { try self.appendLines(entry) }
        self.differs = true
        switch entry {
        case .added:
            self.counts.added += 1
            self.drifts[.added, default: 0] += 1
        case .removed:
            self.counts.removed += 1
            self.drifts[.removed, default: 0] += 1
        case .changed(_, _, let changes):
            self.counts.changed += 1
            for change in changes { self.drifts[change.drift, default: 0] += 1 }
        }
    }

    /// Whether there is a difference of this grade or a higher one.
    func isAtLeast(_ severity: Drift) -> Bool { self.drifts.keys.contains { $0 >= severity } }

    mutating func finish(same: Int) throws {
        try self.finish("\(same) the same, \(self.counts.changed) changed, \(self.counts.added) added, \(self.counts.removed) removed.")
    }

    /// - Parameter summary: the last line, for people.
    mutating func finish(_ summary: String) throws {
        guard !self.isJSON else { return try self.write(self.differs ? "\n]\n" : "[]\n") }
        let grades = Drift.allCases.reversed().compactMap { drift in self.drifts[drift].map { "\($0) \(drift.rawValue)" } }
        try self.write(summary + (grades.isEmpty ? "" : " Differences: \(grades.joined(separator: ", ")).") + "\n")
    }

    /// `- 3 GET http://a/pets`
    static func line(_ sign: String, _ exchange: CassetteDiff.Exchange, _ other: CassetteDiff.Exchange? = nil) -> String {
        let number = other.map { $0.number == exchange.number ? "" : " → \($0.number)" } ?? ""
        return "\(sign) \(exchange.number)\(number) \(VisibleText.line("\(exchange.method) \(exchange.url)"))"
    }

    // MARK: For people

    private func appendLines(_ entry: CassetteDiff.Entry) throws {
        switch entry {
        case .added(let exchange): try self.write(Self.line("+", exchange) + "\n")
        case .removed(let exchange): try self.write(Self.line("-", exchange) + "\n")
        case .changed(let old, let new, let changes):
            try self.write(Self.line("~", old, new) + "\n")
            for change in changes { try self.write("    \(Self.words(change))\n") }
        }
    }

    private static func words(_ change: FieldChange) -> String {
        let text =
            switch (change.old, change.new) {
            case (let old?, let new?): "\(old) → \(new)"
            case (let old?, nil): "\(old) is gone"
            case (nil, let new?): "\(new) is new"
            case (nil, nil): "differs"
            }
        return VisibleText.line("\(change.place): \(text)")
    }

    // MARK: JSON

    private mutating func appendJSON(_ entry: CassetteDiff.Entry) throws {
        self.writer.removeAll(baseDepth: 1)
        self.writer.beginObject(.inline)
        switch entry {
        case .added(let exchange): self.head("added", old: nil, new: exchange)
        case .removed(let exchange): self.head("removed", old: exchange, new: nil)
        case .changed(let old, let new, let changes):
            self.head("changed", old: old, new: new)
            self.writer.member("changes")
            self.writer.beginArray(.lines)
            for change in changes { self.element(change) }
            self.writer.endArray()
        }
        self.writer.endObject()
        try self.write((self.differs ? ",\n  " : "[\n  ") + VisibleText.whole(self.writer.bytes, .json))
    }

    private mutating func head(_ kind: String, old: CassetteDiff.Exchange?, new: CassetteDiff.Exchange?) {
        self.writer.member("kind")
        self.writer.string(kind)
        guard let exchange = new ?? old else { return }
        self.writer.member("method")
        self.writer.string(exchange.method)
        self.writer.member("url")
        self.writer.string(exchange.url)
        if let old {
            self.writer.member("old")
            self.writer.integer(old.number)
        }
        if let new {
            self.writer.member("new")
            self.writer.integer(new.number)
        }
    }

    private mutating func element(_ change: FieldChange) {
        self.writer.element()
        self.writer.beginObject(.inline)
        self.writer.member("place")
        self.writer.string(change.place)
        if let old = change.old {
            self.writer.member("old")
            self.writer.string(old)
        }
        if let new = change.new {
            self.writer.member("new")
            self.writer.string(new)
        }
        self.writer.member("drift")
        self.writer.string(change.drift.rawValue)
        self.writer.endObject()
    }
}
