internal import CassetteFormat
internal import CassetteModel
internal import CassettePlayback
internal import CassetteStore
internal import TapeBytes

/// Shows what a cassette holds: the list, one exchange, or one body; extensions hold what else can be done with bodies.
///
/// Decodes one exchange at a time and keeps none.
struct Inspection {
    var cassette: RecordedCassette
    /// The cassette's path as the user gave it.
    var file: String
    var screen: InspectScreen
    var write: (UnsafeRawBufferPointer) throws -> Void
    /// Says what people have to know and programs must not find in the output.
    var warn: (String) -> Void

    /// The exchanges that are listed, extracted and looked through; nil for all.
    var filter: ExchangeFilter?

    // MARK: The list

    func list() throws {
        guard self.cassette.count > 0 else { return try self.write("\"\(self.file)\" holds no exchanges.\n") }
        let first = try self.cassette.interaction(at: 0).started
        var table = ExchangeTable(count: self.cassette.count, first: first, screen: self.screen, write: self.write)
        var found = 0
        try self.forEachWanted { number, interaction in
            found += 1
            try table.append(ExchangeRow(number: number, interaction))
        }
        guard found > 0 else { return try self.write("no exchange of \"\(self.file)\" matches the filter.\n") }
        try table.finish(of: self.filter == nil ? nil : self.cassette.count)
    }

    func listJSON() throws {
        var list = ExchangeListJSON(isForTerminal: self.screen.isTerminal, write: self.write)
        try self.forEachWanted { try list.append(ExchangeRow(number: $0, $1)) }
        try list.finish()
    }

    /// With their numbers, in order of request start.
    func forEachWanted(_ body: (_ number: Int, _ interaction: Interaction) throws -> Void) throws {
        for index in 0..<self.cassette.count {
            let interaction = try self.cassette.interaction(at: index)
            if try self.filter?.matches(interaction) != false { try body(index + 1, interaction) }
        }
    }

    // MARK: One exchange

    func show(_ number: Int) throws {
        let index = try self.index(of: number)
        let interaction = try self.cassette.interaction(at: index)
        let first = try self.cassette.interaction(at: 0).started
        let opening = interaction.connection.flatMap { self.cassette.opening(of: $0, before: index) }
        let page = ExchangePage(
            screen: self.screen, reader: self.reader, command: "wiretape inspect \(ShellWord.quoted(self.file)) \(number)",
            opening: opening.map { ($0.index + 1, $0.tls) }, write: self.write)
        if let problem = try page.show(interaction, number: number, first: first) { throw problem }
    }

    /// The exchange's JSON text as it stands in the cassette.
    func showJSON(_ number: Int) throws {
        let text = try self.cassette.bytes(at: self.index(of: number))
        if self.screen.isTerminal {
            try self.write(VisibleText.whole(text, .json))
        } else {
            try text.withUnsafeBytes(self.write)
        }
        try self.write("\n")
    }

    // MARK: What all views need

    var reader: BodyReader { BodyReader(cassettePath: self.cassette.path) }

    func interaction(_ number: Int) throws -> Interaction { try self.cassette.interaction(at: self.index(of: number)) }

    private func index(of number: Int) throws(InspectError) -> Int {
        guard number < 1 || number > self.cassette.count else { return number - 1 }
        let range =
            switch self.cassette.count {
            case 0: "holds none"
            case 1: "has 1 only"
            case let count: "has 1 to \(count)"
            }
        throw InspectError(.noExchange, "there is no exchange \(number): \"\(self.file)\" \(range).")
    }

    func write(_ text: String) throws {
        var text = text
        try text.withUTF8 { try self.write(UnsafeRawBufferPointer($0)) }
    }
}

/// A request as a command line.
extension Inspection {
    /// - Parameter files: the folder to write into what the command needs; nil for a comment that says how to.
    func curl(_ number: Int, files: String?, overwrites: Bool) throws {
        let folder = files ?? "wiretape-\(number)"
        var command = try CurlCommand(self.interaction(number), number: number, folder: folder, reader: self.reader)
        if let files, !command.files.isEmpty {
            let folder = try ExtractFolder(files, overwrites: overwrites)
            for file in command.files { try self.write(file.contents, to: file.name, in: folder) }
        } else if !command.files.isEmpty {
            let again = "wiretape show \(ShellWord.quoted(self.file)) \(number) --curl --files \(folder)"
            command.notes.insert("first, for the files that it sends: \(again) > /dev/null", at: 0)
        }
        try self.write(command.text)
    }

    private func write(_ contents: CurlCommand.Contents, to name: String, in folder: ExtractFolder) throws {
        switch contents {
        case .octets(let octets): try folder.write(name, octets)
        case .wire(let body):
            let reader = self.reader
            var isEdited = false
            _ = try folder.write(name) { write in
                isEdited = try BodyRestorer.streamWire(
                    of: body, file: { try reader.source($0, digest: PortableSHA256()) }, raw: { OctetSource(try reader.read($0)) },
                    digest: PortableSHA256(), deliver: write)
            }
            if isEdited { self.warn("the request body was edited since: \"\(folder.path)/\(name)\" does not hold what was received.") }
        }
    }
}

/// The list of a cassette's exchanges for scripts: a JSON array with an object on a line per exchange.
struct ExchangeListJSON {
    private let write: (String) throws -> Void
    private let isForTerminal: Bool
    private var isEmpty = true
    private var writer = JSONWriter()

    init(isForTerminal: Bool, write: @escaping (String) throws -> Void) {
        self.isForTerminal = isForTerminal
        self.write = write
    }

    mutating func append(_ row: ExchangeRow) throws {
        self.writer.removeAll()
        self.writer.beginObject(.inline)
        self.member("number") { $0.integer(row.number) }
        self.member("id") { $0.integer(row.id) }
        self.member("method") { $0.string(row.method) }
        self.member("url") { $0.string(row.url) }
        self.optional("status", row.status) { $0.integer($1) }
        self.optional("type", row.type) { $0.string($1) }
        self.optional("size", row.size) { $0.integer($1) }
        self.optional("tls", row.tls) { $0.string($1) }
        self.member("started") { $0.timestamp(row.started) }
        self.optional("total", row.total) { $0.milliseconds($1) }
        self.member("outcome") { $0.string(row.outcomeWords) }
        self.writer.endObject()
        let object = self.writer.bytes
        let text = self.isForTerminal ? VisibleText.whole(object, .json) : String(decoding: object, as: UTF8.self)
        try self.write((self.isEmpty ? "[\n  " : ",\n  ") + text)
        self.isEmpty = false
    }

    func finish() throws { try self.write(self.isEmpty ? "[]\n" : "\n]\n") }

    private mutating func member(_ name: StaticString, _ value: (inout JSONWriter) -> Void) {
        self.writer.member(name)
        value(&self.writer)
    }

    /// What is not there is null, so that each object has the same members.
    private mutating func optional<Value>(_ name: StaticString, _ value: Value?, _ write: (inout JSONWriter, Value) -> Void) {
        self.writer.member(name)
        if let value { write(&self.writer, value) } else { self.writer.raw("null") }
    }
}

/// One body, or one part of it, for programs: octets and nothing else, or a description as JSON.
extension Inspection {
    /// A body's octets without codings; `raw` as they crossed the wire.
    func body(_ message: MessageChoice, of number: Int, raw: Bool = false) throws {
        let (body, headers) = try self.body(message, number)
        let what = "the \(message.rawValue) body of exchange \(number)"
        let contents = try BodyContents(body, headers: headers, reader: self.reader, readsBroken: true)
        if raw {
            try self.writeWire(body, contents, what)
        } else {
            try self.writeOctets(contents, what)
            if let breaking = contents.breaking {
                self.warn("of \(what) these are the octets that could be read, \(BodyWords.broken(breaking, of: body)); --raw has all.")
            }
            if body.codings.isEmpty, contents.inflated == nil, body.size > 0, let coding = BodyWords.coding(headers) {
                self.warn("\(what) is still coded as \(coding), as it was received.")
            }
        }
        if !body.isComplete { self.warn("\(what) was cut short: these are the octets that came.") }
    }

    /// A part's data; `raw` with its Content-Transfer-Encoding on.
    ///
    /// - Parameter message: nil for the first message whose body has parts.
    func part(_ wanted: String, in message: MessageChoice?, of number: Int, raw: Bool = false) throws {
        let found = try self.findPart(wanted, in: message, of: number)
        let what = "part \(found.part.label) of the \(found.message.rawValue) body of exchange \(number)"
        try self.writeOctets(try found.part.contents(in: found.contents, raw: raw), what)
    }

    // MARK: JSON

    func bodyJSON(_ message: MessageChoice, of number: Int) throws {
        let (body, headers) = try self.body(message, number)
        let contents = try BodyContents(body, headers: headers, reader: self.reader, readsBroken: true)
        var json = BodyJSON(exchange: number, message: message)
        try json.describe(body, headers, contents)
        try self.writeJSON(json.finish())
    }

    func partJSON(_ wanted: String, in message: MessageChoice?, of number: Int) throws {
        let found = try self.findPart(wanted, in: message, of: number)
        var json = BodyJSON(exchange: number, message: found.message)
        try json.describe(found.part, in: found.contents)
        try self.writeJSON(json.finish())
    }

    func writeJSON(_ octets: [UInt8]) throws {
        try self.write((self.screen.isTerminal ? VisibleText.whole(octets, .json) : String(decoding: octets, as: UTF8.self)) + "\n")
    }

    // MARK: Finding

    private func body(_ message: MessageChoice, _ number: Int) throws -> (Body, HeaderFields) {
        let interaction = try self.interaction(number)
        let (found, headers) = interaction.body(of: message)
        guard let body = found else {
            let what = message == .response && interaction.response == nil ? "no response" : "no \(message.rawValue) body"
            throw InspectError(.noBody, "exchange \(number) of \"\(self.file)\" has \(what): see it with \"wiretape inspect\".")
        }
        return (body, headers)
    }

    private func findPart(
        _ wanted: String, in message: MessageChoice?, of number: Int
    ) throws -> (part: BodyPart, contents: BodyContents, message: MessageChoice) {
        let interaction = try self.interaction(number)
        for message in message.map({ [$0] }) ?? MessageChoice.allCases {
            let (body, headers) = interaction.body(of: message)
            guard let body, MultipartType(headers) != nil else { continue }
            let contents = try BodyContents(body, headers: headers, reader: self.reader, readsBroken: true)
            guard let parts = try BodyParts(contents, headers: headers) else { continue }
            if let part = parts[wanted] { return (part, contents, message) }
            let names = parts.all.prefix(20).map { part in part.name.map { "\(part.label) \"\($0)\"" } ?? part.label }
            let list = names.joined(separator: ", ") + (parts.all.count > names.count ? ", …" : "")
            throw InspectError(
                .noPart,
                "there is no part \"\(wanted)\" in the \(message.rawValue) body of exchange \(number): it has \(names.isEmpty ? "none" : list)."
            )
        }
        let what = message.map { "the \($0.rawValue) body of exchange \(number)" } ?? "exchange \(number)"
        throw InspectError(.noPart, "\(what) has no parts: see it with \"wiretape inspect \(ShellWord.quoted(self.file)) \(number)\".")
    }

    // MARK: Octets

    private func writeOctets(_ contents: BodyContents, _ what: String) throws {
        if self.screen.isTerminal, try !Self.isFitForTerminal(contents) {
            guard try !self.showImage(contents) else { return }
            throw InspectError(
                .unfitForTerminal, "\(what) holds octets that are not text: send it to a file or a program, as \"| less\".")
        }
        try contents.forEachPiece { try self.write($0) }
    }

    private func writeWire(_ body: Body, _ contents: BodyContents, _ what: String) throws {
        if self.screen.isTerminal, try !body.codings.isEmpty || contents.inflated != nil || !Self.isFitForTerminal(contents) {
            throw InspectError(
                .unfitForTerminal, "\(what) holds octets that are not text: send it to a file or a program, as \"| less\".")
        }
        let reader = self.reader
        let isEdited = try BodyRestorer.streamWire(
            of: body, file: { try reader.source($0, digest: PortableSHA256()) }, raw: { OctetSource(try reader.read($0)) },
            digest: PortableSHA256(), deliver: self.write)
        if isEdited { self.warn("\(what) was edited since: these are not the octets that were received.") }
    }

    /// - Returns: whether it is an image that the terminal could show.
    private func showImage(_ contents: BodyContents) throws -> Bool {
        guard let width = self.screen.width, let kind = self.screen.images,
            let image = ImageInfo(try contents.prefix(ImageInfo.prefixSize)),
            let octets = try contents.load(limit: InlineImage.limit), let shown = InlineImage(image, octets, columns: width, kind)
        else { return false }
        try self.write(shown.sequence + "\n")
        return true
    }

    private static func isFitForTerminal(_ contents: BodyContents) throws -> Bool {
        guard try BodyForm.isText(contents) else { return false }
        var text = VisibleText(.lines)
        try contents.forEachPiece(while: { piece in
            _ = text.push(piece)
            return !text.hasEscaped
        })
        _ = text.push(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true)
        return !text.hasEscaped
    }
}
