internal import ArgumentParser
public import CassetteExport
internal import CassetteModel
internal import CassettePlayback
internal import CassetteStore
internal import CassetteTools

struct ExportCommand: ParsableCommand, ReadsCassettes {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write a cassette in a format that other tools read.",
        discussion: """
            Bodies of gRPC are exported to an HTTP Archive as the bytes of the wire, in base64. Names of fields, and the order in which both \
            sides of a conversation spoke, have no place in it. Messages of WebSockets and events are exported as browsers do.

            Numbers after the file, or --filter, choose exchanges. Placeholders of secrets are exported as they are.

            Examples:
              wiretape export Cassettes/pets.json --har > pets.har
              wiretape export Cassettes/pets.json --har --filter '~m POST' --output posts.har
              wiretape export Cassettes/pets.json 3 5 --curl --shell fish
              wiretape export Cassettes/pets.json 3 --raw --message request
              wiretape export Cassettes/pets.json --postman -o pets.postman_collection.json
              wiretape export Cassettes/pets.json --wiremock -o mappings/pets.json
              wiretape export Cassettes/pets.json --swift -o PetsTests.swift
              wiretape export Cassettes/pets.json --curl --files sent > requests.sh
              wiretape export Cassettes/pets.json --warc -o pets.warc
              wiretape export Cassettes/pets.json --ndjson -o pets.ndjson
            """)

    @Argument(help: "The cassette, a JSON file.", completion: .file())
    var file: String

    @Argument(help: ArgumentHelp("The numbers of the exchanges to write. Default: all.", valueName: "number"))
    var numbers: [Int] = []

    @Flag(help: "HTTP Archive 1.2.")
    var har = false

    @Flag(help: "Requests and responses as HTTP/1.1 has them on the wire.")
    var raw = false

    @Flag(help: "A collection of Postman, format 2.1.")
    var postman = false

    @Flag(help: "Stub mappings of WireMock, in one file.")
    var wiremock = false

    @Flag(help: "curl commands that send the requests again.")
    var curl = false

    @Flag(help: "A Swift test that makes the requests inside withCassette.")
    var swift = false

    @Flag(help: "A web archive, WARC 1.1.")
    var warc = false

    @Flag(help: "One flat line of JSON for each exchange, without bodies, for DuckDB, ClickHouse or Spark.")
    var ndjson = false

    @Option(help: ArgumentHelp("With --curl, write the files that the commands send into this folder.", valueName: "folder"))
    var files: String?

    @Flag(help: "With --files, replace files of the same names.")
    var overwrite = false

    @Option(help: ArgumentHelp("Only the exchanges that match: see \"wiretape inspect --help\".", valueName: "expression"))
    var filter: String?

    @Option(help: "With --curl, the shell: bash (any of POSIX), fish or powershell. Default: bash.")
    var shell: ExportShell?

    @Option(help: "With --raw: request, response or both. Default: both.")
    var message: RawMessages.Choice?

    @Option(name: .shortAndLong, help: "The file to write. Default: standard output.", completion: .file())
    var output: String?

    private var formats: [ExportFormat] {
        let chosen: [(Bool, ExportFormat)] = [
            (self.har, .har), (self.raw, .raw), (self.postman, .postman), (self.wiremock, .wiremock), (self.curl, .curl),
            (self.swift, .swift), (self.warc, .warc), (self.ndjson, .ndjson),
        ]
        return chosen.filter(\.0).map(\.1)
    }

    @OptionGroup var fetching: FetchOptions

    mutating func forEachCassette(_ change: (inout String) throws -> Void) rethrows {
        try change(&self.file)
    }

    func validate() throws {
        guard let format = self.formats.first else {
            throw ValidationError("pass the format to write: \(ExportFormat.allCases.map { "--\($0.rawValue)" }.joined(separator: ", ")).")
        }
        guard self.formats.count == 1 else {
            throw ValidationError("--\(format.rawValue) and --\(self.formats[1].rawValue) cannot be used together.")
        }
        if self.shell != nil, format != .curl { throw ValidationError("--shell needs --curl.") }
        if self.files != nil, format != .curl { throw ValidationError("--files needs --curl.") }
        if self.overwrite, self.files == nil { throw ValidationError("--overwrite needs --files.") }
        if self.message != nil, format != .raw { throw ValidationError("--message needs --raw.") }
        if let filter = self.filter {
            do {
                _ = try FilterParser.parse(filter)
            } catch {
                throw ValidationError(VisibleText.line(error.message) + ".")
            }
        }
    }

    func run() throws {
        if let output {
            SignalThread.end(saying: "ended: \"\(output)\" is as it was before.")
        } else {
            SignalThread.unblock()
        }
        try self.export()
    }

    /// Does not touch signals, which belong to the process.
    func export() throws {
        try CareCommand.run(failure: ExitStatus.failed) {
            CareCommand.mentionRecordings(beside: self.file)
            let cassette = try RecordedCassette(path: self.file)
            for notice in cassette.notices { Terminal.error.complain(notice) }
            for number in self.numbers where !(1...max(cassette.count, 1)).contains(number) || cassette.count == 0 {
                throw CassetteError(
                    .notFound, "\"\(self.file)\" has no exchange \(number), but \(cassette.count): see \"wiretape inspect \(self.file)\".")
            }
            let sink = try OutputFile(path: self.output, from: self.file, keepsOld: true)
            var writer = try self.writer(of: cassette) { try sink.write($0) }
            let filter = try self.filter.map { ExchangeFilter(try FilterParser.parse($0), reader: BodyReader(cassettePath: self.file)) }
            // If a terminal shows the output, the progress line would be mixed into it.
            let progress = self.output != nil || !Terminal.output.isTerminal ? ProgressLine(label: "exporting") : nil
            defer { progress?.end() }
            try writer.begin()
            let numbers = self.numbers.isEmpty ? Array(1...max(cassette.count, 1)).prefix(cassette.count) : self.numbers[...]
            var isEmpty = true
            for (done, number) in numbers.enumerated() {
                progress?.show(done, of: numbers.count)
                let interaction = try cassette.interaction(at: number - 1)
                guard try filter?.matches(interaction) != false else { continue }
                isEmpty = false
                try writer.append(interaction, number: number)
            }
            try writer.end()
            try sink.finish()
            for note in writer.notes { Terminal.error.complain(note) }
            if isEmpty, let text = self.filter {
                let hint = FilterParser.hint(text).map { " (\($0))" } ?? ""
                Terminal.error.complain("no exchange of \"\(self.file)\" matches the filter\(hint), so none is exported.")
            }
        }
    }

    private func writer(
        of cassette: RecordedCassette, _ sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> any ExchangeWriter {
        let target = ExportTarget(path: self.file, sink: sink)
        switch self.formats[0] {
        case .har: return ArchiveWriter(try cassette.headMember("har"), path: self.file, sink: sink)
        case .raw: return RawMessages(target, self.message ?? .both)
        case .postman: return PostmanCollection(target)
        case .wiremock: return WireMockMappings(target)
        case .curl:
            let folder = try self.files.map { try ExtractFolder($0, overwrites: self.overwrite, from: self.file) }
            return CurlScript(target, self.shell ?? .bash, files: folder)
        case .warc: return WARCRecords(target)
        case .ndjson: return FlatLines(target)
        case .swift: return SwiftTestText(target)
        }
    }
}

extension ExportShell: ExpressibleByArgument {}
extension RawMessages.Choice: ExpressibleByArgument {}
