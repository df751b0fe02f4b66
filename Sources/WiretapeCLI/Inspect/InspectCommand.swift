internal import ArgumentParser
internal import CassetteModel
internal import CassettePlayback
internal import CassetteRun
internal import CassetteStore
package import CassetteTools
internal import Dispatch
internal import TapeInspector

struct InspectCommand: ParsableCommand, ReadsCassettes {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show what a cassette holds.",
        discussion: """
            Lists the exchanges, or shows the one with that number in full: multipart bodies by part, JSON formatted, images on \
            terminals that can show them. Recorded control characters are escaped; --body and --part write the decoded bytes as they \
            are.

            Filters are mitmproxy's: ~m method, ~u url, ~d domain, ~c status, ~t type, ~b body, ~h header (~tq ~bq ~hq of the request, \
            ~ts ~bs ~hs of the response), ~dst address, ~hv version of HTTP, ~grpc status (number or name), ~websocket, ~a asset, ~q without a response, ~s with one, ~e cut or failed; "!", "&", "|" \
            and parentheses; a pattern alone matches the url. Patterns are case-insensitive regular expressions; ~b searches the first \
            64 MiB of a decoded body, and messages of gRPC and of WebSockets without their coding.

            Messages of gRPC are shown as trees of fields, those of a WebSocket with arrows (→ from the client, ← from the server), and \
            events of a stream one by one; --message N writes one of them.

            Examples:
              wiretape inspect Cassettes/pets.json
              wiretape inspect Cassettes/pets.json --filter '~m POST & !~c 201'
              wiretape inspect Cassettes/pets.json 3
              wiretape inspect Cassettes/pets.json 3 --body response > pet.jpg
              wiretape inspect Cassettes/pets.json 3 --part avatar > avatar.png
              wiretape inspect Cassettes/pets.json 3 --message 12
              wiretape inspect Cassettes/pets.json 3 --extract pets
              wiretape inspect Cassettes/pets.json 3 --lint
              wiretape inspect Cassettes/pets.json --json
              wiretape inspect Cassettes/pets.json --web --open
              wiretape inspect --web --open
            """)

    @Argument(
        help: "The cassette, a JSON file. With --web, it can be left out: the page opens files and starts recordings.", completion: .file())
    var file: String?

    @Argument(help: ArgumentHelp("The number of one exchange, in order of request start.", valueName: "n"))
    var number: Int?

    @Option(help: ArgumentHelp("Only the exchanges that match this expression.", valueName: "expr"))
    var filter: String?

    @Option(help: ArgumentHelp("Write the decoded body of the request or the response, and nothing else.", valueName: "message"))
    var body: MessageChoice?

    @Option(help: ArgumentHelp("Write one part of a multipart body, by its name or number, or one message of gRPC.", valueName: "name|n"))
    var part: String?

    @Option(
        help: ArgumentHelp("Write one message of a WebSocket or of gRPC, or the data of one event, by its number.", valueName: "n"))
    var message: Int?

    @Flag(help: "With --body, the bytes as they crossed the wire; with --part and --message, those in the body.")
    var raw = false

    @Option(
        help: ArgumentHelp("Write every body, part and message into files of this folder; with --message, only that.", valueName: "dir"),
        completion: .directory)
    var extract: String?

    @Flag(help: "With --extract, replace existing files.")
    var overwrite = false

    @OptionGroup var names: DescriptorOptions
    @OptionGroup var page: WebOptions

    @Option(help: ArgumentHelp("With --web, an older cassette to compare this one with.", valueName: "file"), completion: .file())
    var against: String?

    @Flag(help: "List what is wrong with uploads, where, and what to write instead; the exit code is 1 if there is something.")
    var lint = false

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("With --lint, also what this server would refuse, with its usual limits.", valueName: "server"))
    var server: UploadServer?

    @Flag(
        help:
            "Sum the tokens that answers of language models say they used, by model and host, and what they cost by \"prices\" of wiretape.yaml."
    )
    var usage = false

    @OptionGroup(title: "Configuration file") var config: ConfigOptions

    @Flag(
        help: """
            Print JSON: the list as an array; with a number, the exchange as it is in the cassette; with another option, its result.
            """)
    var json = false

    @OptionGroup var fetching: FetchOptions

    mutating func forEachCassette(_ change: (inout String) throws -> Void) rethrows {
        if var file = self.file {
            try change(&file)
            self.file = file
        }
        if var file = self.against {
            try change(&file)
            self.against = file
        }
    }

    func validate() throws {
        let wanted = [
            self.part.map { _ in "--part" }, self.message.map { _ in "--message" },
            self.body != nil && self.part == nil && self.message == nil ? "--body" : nil,
            self.message == nil ? self.extract.map { _ in "--extract" } : nil, self.lint ? "--lint" : nil,
            self.usage ? "--usage" : nil, self.page.web ? "--web" : nil,
        ].compactMap { $0 }
        guard self.file != nil || self.page.web else {
            throw ValidationError("missing the cassette: name a file, or open a page with --web.")
        }
        if self.file == nil, self.against != nil { throw ValidationError("--against needs a cassette to compare with.") }
        if wanted.count > 1 { throw ValidationError("\(wanted[0]) and \(wanted[1]) cannot be used together.") }
        if self.against != nil, !self.page.web { throw ValidationError("--against needs --web: without a page, use wiretape diff.") }
        if self.page.web, self.number != nil || self.filter != nil || self.json {
            throw ValidationError("--web shows all exchanges: the page has filters, searches and links of its own.")
        }
        if let body = self.body, self.number == nil {
            throw ValidationError("--body \(body.rawValue) needs the number of an exchange.")
        }
        if self.part != nil, self.number == nil { throw ValidationError("--part needs the number of an exchange.") }
        if self.message != nil, self.number == nil { throw ValidationError("--message needs the number of an exchange.") }
        if self.raw, self.body == nil, self.part == nil, self.message == nil {
            throw ValidationError("--raw needs --body, --part or --message.")
        }
        if self.message != nil, self.extract != nil, self.json || self.raw {
            throw ValidationError("--message with --extract takes neither --json nor --raw.")
        }
        if self.usage, self.number != nil {
            throw ValidationError("--usage sums all exchanges: omit the number, or choose some with --filter.")
        }
        if self.raw, self.json { throw ValidationError("--raw and --json cannot be used together.") }
        if self.server != nil, !self.lint { throw ValidationError("--for needs --lint.") }
        if self.overwrite, self.extract == nil { throw ValidationError("--overwrite needs --extract.") }
        if self.filter != nil, self.number != nil { throw ValidationError("--filter applies to all exchanges: omit the number.") }
        if let filter = self.filter {
            do {
                _ = try FilterParser.parse(filter)
            } catch {
                throw ValidationError(VisibleText.line(error.message) + ".")
            }
        }
    }

    func run() throws {
        if self.page.web { return try self.serve() }
        SignalThread.unblock()
        guard try self.inspect() == 0 else { throw ExitCode(ExitStatus.different) }
    }

    /// Serves the page until a signal comes.
    private func serve() throws {
        do {
            if let file = self.file { CareCommand.mentionRecordings(beside: file) }
            let ports = ClosedPorts()
            // Finding the exchanges of a large cassette takes a while. During that time, a signal ends the process at once.
            SignalThread.unblock()
            let blank = try self.file == nil ? PageFolder.make() : nil
            defer { blank?.remove() }
            let cassette = try InspectedCassette(path: self.file ?? PageFolder.blank(in: blank), schema: self.names.schema())
            SignalThread.block()
            let server = try InspectorServer.start(
                cassette, older: self.against,
                tools: .ofCommands(upstreamTLS: UpstreamTLSOptions.parse([]), ports: ports, opens: true, records: true),
                port: self.page.webPort ?? 0, name: blank == nil ? nil : "no cassette", isBlank: blank != nil)
            ports.add(.init(port: server.port))
            let page = try ServedPage(server, opens: self.page.open) { Terminal.error.complain($0) }
            let stop = DispatchSemaphore(value: 0)
            SignalThread.start { _ in stop.signal() }
            stop.wait()
            page.stop()
        } catch let error as CassetteError {
            try Self.fail(CommandEnd.message(of: error) ?? error.message)
        } catch let error as InspectorServer.StartError {
            try Self.fail(error.message)
        } catch let error as TrustError {
            try Self.fail(error.message)
        }
    }

    /// Does not touch signals, which belong to the process.
    ///
    /// - Returns: how many defects `--lint` has found.
    @discardableResult
    func inspect() throws -> Int {
        // Checked by `validate`.
        let file = self.file ?? ""
        CareCommand.mentionRecordings(beside: file)
        do {
            let cassette = try RecordedCassette(path: file, schema: self.names.schema())
            for notice in cassette.notices { Terminal.error.complain(notice) }
            let output = try OutputFile(path: nil)
            var inspection = Inspection(
                cassette: cassette, file: file, screen: .current, write: output.write, warn: Terminal.error.complain)
            if let filter = self.filter {
                inspection.filter = ExchangeFilter(try FilterParser.parse(filter), reader: inspection.reader)
                inspection.filterText = filter
            }
            // The output before an error is still shown.
            let result = Result { try self.lint ? self.defects(inspection) : self.show(inspection) }
            try output.finish()
            return try result.get()
        } catch let error as CassetteError {
            try Self.fail(CommandEnd.message(of: error) ?? error.message)
        } catch let error as InspectError {
            try Self.fail(error.message)
        }
    }

    private func defects(_ inspection: Inspection) throws -> Int {
        try self.json ? inspection.lintJSON(self.number, server: self.server) : inspection.lint(self.number, server: self.server)
    }

    /// - Returns: zero, since nothing is judged.
    private func show(_ inspection: Inspection) throws -> Int {
        try self.showAll(inspection)
        return 0
    }

    private func showAll(_ inspection: Inspection) throws {
        if let message = self.message, let number = self.number {
            if let folder = self.extract {
                return try inspection.extract(message, in: self.body, of: number, to: folder, overwrites: self.overwrite)
            }
            return self.json
                ? try inspection.messageJSON(message, in: self.body, of: number)
                : try inspection.message(message, in: self.body, of: number, raw: self.raw)
        }
        if let folder = self.extract {
            return try inspection.extract(self.number, to: folder, overwrites: self.overwrite, json: self.json)
        }
        if self.usage {
            let prices: TokenPrices
            do throws(SettingError) {
                prices = TokenPrices(try self.config.file()?.prices ?? [])
            } catch {
                try Self.fail(error.message)
            }
            return self.json ? try inspection.usageJSON(prices: prices) : try inspection.usage(prices: prices)
        }
        switch (self.number, self.part, self.body) {
        case (nil, _, _): self.json ? try inspection.listJSON() : try inspection.list()
        case (let number?, let part?, let body):
            self.json
                ? try inspection.partJSON(part, in: body, of: number) : try inspection.part(part, in: body, of: number, raw: self.raw)
        case (let number?, nil, let body?):
            self.json ? try inspection.bodyJSON(body, of: number) : try inspection.body(body, of: number, raw: self.raw)
        case (let number?, nil, nil): self.json ? try inspection.showJSON(number) : try inspection.show(number)
        }
    }

    private static func fail(_ message: String) throws -> Never {
        Terminal.error.complain(message)
        throw ExitCode(ExitStatus.failed)
    }
}

extension MessageChoice: ExpressibleByArgument {}
extension UploadServer: ExpressibleByArgument {}

struct ShowCommand: ParsableCommand, ReadsCassettes {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print a recorded request as a command that sends it again.",
        discussion: """
            The command is for sh. Data that does not fit into a command line is read from files: --files writes them, and without it \
            a comment says how to.

            Examples:
              wiretape show Cassettes/pets.json 3 --curl
              wiretape show Cassettes/pets.json 3 --curl --files pets-3 | sh
            """)

    @Argument(help: "The cassette, a JSON file.", completion: .file())
    var file: String

    @Argument(help: ArgumentHelp("The number of one exchange, in order of request start.", valueName: "n"))
    var number: Int

    @Flag(help: "Print a curl command.")
    var curl = false

    @Option(help: ArgumentHelp("Write the files that the command needs into this folder.", valueName: "dir"), completion: .directory)
    var files: String?

    @Flag(help: "With --files, replace existing files.")
    var overwrite = false

    @OptionGroup var fetching: FetchOptions

    mutating func forEachCassette(_ change: (inout String) throws -> Void) rethrows {
        try change(&self.file)
    }

    func validate() throws {
        guard self.curl else { throw ValidationError("pass the form to print: --curl.") }
        if self.overwrite, self.files == nil { throw ValidationError("--overwrite needs --files.") }
    }

    func run() throws {
        SignalThread.unblock()
        try self.show()
    }

    /// Does not touch signals, which belong to the process.
    func show() throws {
        CareCommand.mentionRecordings(beside: self.file)
        do {
            let cassette = try RecordedCassette(path: self.file)
            for notice in cassette.notices { Terminal.error.complain(notice) }
            let output = try OutputFile(path: nil)
            let inspection = Inspection(
                cassette: cassette, file: self.file, screen: .current, write: output.write, warn: Terminal.error.complain)
            try inspection.curl(self.number, files: self.files, overwrites: self.overwrite)
            try output.finish()
        } catch let error as CassetteError {
            try Self.fail(CommandEnd.message(of: error) ?? error.message)
        } catch let error as InspectError {
            try Self.fail(error.message)
        }
    }

    private static func fail(_ message: String) throws -> Never {
        Terminal.error.complain(message)
        throw ExitCode(ExitStatus.failed)
    }
}
