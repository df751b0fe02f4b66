internal import CassetteFormat
internal import CassetteModel
internal import CassettePlayback
internal import CassetteStore
internal import CassetteTools
internal import TapeBytes

/// Shows the contents of a cassette: the list of exchanges, one exchange, or one body.
///
/// Decodes one exchange at a time and keeps none.
struct Inspection {
    var cassette: RecordedCassette
    /// The cassette's path as the user gave it.
    var file: String
    var screen: InspectScreen
    var write: (UnsafeRawBufferPointer) throws -> Void
    /// Receives warnings for people, which are not part of the output.
    var warn: (String) -> Void

    /// Restricts the list, the extraction and the lint; nil for all exchanges.
    var filter: ExchangeFilter?
    /// The filter as the user wrote it.
    var filterText: String?

    // MARK: The list

    func list() throws {
        guard self.cassette.count > 0 else { return try self.write("\"\(self.file)\" holds no exchanges.\n") }
        let first = try self.cassette.interaction(at: 0).started
        var table = ExchangeTable(count: self.cassette.count, first: first, screen: self.screen, write: self.write)
        var found = 0
        var broken: [Int] = []
        try self.forEachWanted { number, interaction in
            found += 1
            var row = ExchangeRow(number: number, interaction, isOpen: self.cassette.isOpen(at: number - 1))
            row.defects = interaction.uploadDefects(self.reader, limit: Self.listedSize)
            if row.defects ?? 0 > 0 { broken.append(number) }
            try table.append(row)
        }
        guard found > 0 else {
            return try self.write("no exchange of \"\(self.file)\" matches the filter\(self.filterHint).\n")
        }
        try table.finish(of: self.filter == nil ? nil : self.cassette.count)
        guard let first = broken.first else { return }
        let number = broken.count == 1 ? " \(first)" : ""
        let text =
            "\(ExchangeTable.mark) \(Quantity.count(broken.count, "broken upload")): wiretape inspect \(ShellWord.quoted(self.file))\(number) --lint"
        try self.write(self.screen.paint(VisibleText.line(text), .yellow) + "\n")
    }

    /// The list does not check larger uploads: it must not take long.
    private static let listedSize = 8 << 20

    func listJSON() throws {
        var list = ExchangeListJSON(write: self.write)
        var found = 0
        try self.forEachWanted { number, interaction in
            found += 1
            var row = ExchangeRow(number: number, interaction, isOpen: self.cassette.isOpen(at: number - 1))
            row.defects = interaction.uploadDefects(self.reader, limit: Self.listedSize)
            try list.append(row)
        }
        try list.finish()
        if found == 0, !self.filterHint.isEmpty { self.warn("no exchange matches the filter\(self.filterHint).") }
    }

    private var filterHint: String { self.filterText.flatMap { FilterParser.hint($0) }.map { " (\($0))" } ?? "" }

    /// Calls `body` with each wanted exchange and its number, in order of request start.
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
            opening: opening.map { ($0.index + 1, $0.tls) }, isOpen: self.cassette.isOpen(at: index), write: self.write)
        if let problem = try page.show(interaction, number: number, first: first) { throw problem }
    }

    /// The exchange's JSON text as it is in the cassette. Invisible characters are escaped.
    func showJSON(_ number: Int) throws {
        let text = try self.cassette.bytes(at: self.index(of: number))
        try self.write(VisibleText.whole(text, .json) + "\n")
    }

    // MARK: One body or one part

    /// Writes a body's bytes without codings; with `raw`, as they were sent.
    func body(_ message: MessageChoice, of number: Int, raw: Bool = false) throws {
        let (body, headers) = try self.body(message, number)
        let what = "the \(message.rawValue) body of exchange \(number)"
        let contents = try BodyContents(body, headers: headers, reader: self.reader, readsBroken: true)
        if raw {
            try self.writeWire(body, contents, what)
        } else {
            try self.writeBytes(contents, what)
            if let breaking = contents.breaking {
                self.warn("\(what) can be read only in part: \(BodyWords.broken(breaking, of: body)); --raw writes all of it.")
            }
            if body.codings.isEmpty, contents.inflated == nil, body.size > 0, let coding = BodyWords.coding(headers) {
                self.warn("\(what) is still coded as \(coding), as it was received.")
            }
        }
        if !body.isComplete { self.warn("\(what) was cut short: these are the bytes that were received.") }
    }

    /// Writes a part's data; with `raw`, in its Content-Transfer-Encoding.
    ///
    /// - Parameter message: nil for the first message whose body has parts.
    func part(_ wanted: String, in message: MessageChoice?, of number: Int, raw: Bool = false) throws {
        if let (found, message) = try self.findMessage(wanted, in: message, of: number) {
            return try self.writeBytes(
                found.contents(raw: raw), "message \(found.number) of the \(message.rawValue) body of exchange \(number)")
        }
        let found = try self.findPart(wanted, in: message, of: number)
        let what = "part \(found.part.label) of the \(found.message.rawValue) body of exchange \(number)"
        try self.writeBytes(try found.part.contents(in: found.contents, raw: raw), what)
    }

    // MARK: One message

    /// Writes the payload of one message of a WebSocket, one message of gRPC, or the data of one event.
    ///
    /// - Parameters:
    ///   - side: the side of gRPC messages and events; nil for the side that has some.
    ///   - raw: a close with its code, and a gRPC message as it was on the wire.
    func message(_ wanted: Int, in side: MessageChoice?, of number: Int, raw: Bool = false) throws {
        switch try self.spoken(wanted, in: side, of: number) {
        case .socket(let message):
            let what = "message \(wanted) of exchange \(number)"
            try self.writeBytes(message.contents(raw: raw), what)
            if !message.message.isComplete { self.warn("\(what) was cut short: these are the bytes that were received.") }
        case .grpc: try self.part("\(wanted)", in: side, of: number, raw: raw)
        case .event(let event): try self.writeBytes(event.contents, "event \(wanted) of exchange \(number)")
        }
    }

    func messageJSON(_ wanted: Int, in side: MessageChoice?, of number: Int) throws {
        switch try self.spoken(wanted, in: side, of: number) {
        case .socket(let message):
            var writer = JSONWriter()
            WebSocketMessageCoder.encode(message.message, into: &writer)
            try self.writeJSON(writer.bytes)
        case .grpc: try self.partJSON("\(wanted)", in: side, of: number)
        case .event(let event): try self.writeJSON(event.json)
        }
    }

    /// Writes one message into a file of a folder, and its path.
    func extract(_ wanted: Int, in side: MessageChoice?, of number: Int, to path: String, overwrites: Bool) throws {
        let (contents, name): (BodyContents, String)
        switch try self.spoken(wanted, in: side, of: number) {
        case .socket(let message):
            (contents, name) = (try message.contents(raw: true), "\(number)-message-\(wanted).\(message.fileExtension)")
        case .grpc(let message, let side):
            (contents, name) = (try message.contents(), "\(number)-\(side.rawValue)-\(wanted).\(message.fileExtension)")
        case .event(let event): (contents, name) = (event.contents, "\(number)-event-\(wanted).txt")
        }
        let file = try ExtractFolder(path, overwrites: overwrites, from: self.file).write(name, contents)
        try self.write(VisibleText.line(file) + self.screen.paint("  \(Quantity.bytes(contents.size))", .dim) + "\n")
    }

    private enum Spoken {
        case socket(SocketMessage)
        case grpc(BodyMessage, MessageChoice)
        case event(BodyEvent)
    }

    private func spoken(_ wanted: Int, in side: MessageChoice?, of number: Int) throws -> Spoken {
        let interaction = try self.interaction(number)
        if let messages = interaction.webSocket {
            var found: SocketMessage?
            try self.reader.forEachSocketMessage(of: messages) { message in
                if message.number == wanted { found = message }
                return found == nil
            }
            if let found { return .socket(found) }
            throw Self.noMessage(wanted, "message", in: "exchange \(number)", messages.count)
        }
        if let (found, side) = try self.findMessage("\(wanted)", in: side, of: number) { return .grpc(found, side) }
        for side in side.map({ [$0] }) ?? MessageChoice.allCases.reversed() {
            let (body, headers) = interaction.body(of: side)
            guard let body, let events = try self.events(of: body, headers) else { continue }
            if let found = try events.event(wanted) { return .event(found) }
            throw Self.noMessage(wanted, events.noun, in: "the \(side.rawValue) body of exchange \(number)", events.count)
        }
        throw InspectError(
            .noPart,
            "exchange \(number) has no messages: see it with \"wiretape inspect \(ShellWord.quoted(self.file)) \(number)\".")
    }

    private func events(of body: Body, _ headers: HeaderFields) throws -> BodyEvents? {
        try BodyEvents(
            body, headers: headers, contents: BodyContents(body, headers: headers, reader: self.reader, readsBroken: true))
    }

    private static func noMessage(_ wanted: Int, _ noun: String, in what: String, _ count: Int) -> InspectError {
        let range = count == 0 ? "none" : count == 1 ? "only 1" : "1 to \(count)"
        return InspectError(.noPart, "there is no \(noun) \(wanted) in \(what): it has \(range).")
    }

    // MARK: JSON

    func bodyJSON(_ message: MessageChoice, of number: Int) throws {
        let (body, headers) = try self.body(message, number)
        let contents = try BodyContents(body, headers: headers, reader: self.reader, readsBroken: true)
        var json = BodyJSON(exchange: number, message: message)
        try json.describe(body, headers, contents, messages: BodyMessages(body, reader: self.reader))
        try self.writeJSON(json.finish())
    }

    func partJSON(_ wanted: String, in message: MessageChoice?, of number: Int) throws {
        if let (found, message) = try self.findMessage(wanted, in: message, of: number) {
            var json = BodyJSON(exchange: number, message: message)
            json.describe(found)
            return try self.writeJSON(json.finish())
        }
        let found = try self.findPart(wanted, in: message, of: number)
        var json = BodyJSON(exchange: number, message: found.message)
        try json.describe(found.part, in: found.contents)
        try self.writeJSON(json.finish())
    }

    func writeJSON(_ bytes: [UInt8]) throws {
        try self.write(VisibleText.whole(bytes, .json) + "\n")
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

    /// Nil if the exchange has no messages of gRPC.
    private func findMessage(
        _ wanted: String, in message: MessageChoice?, of number: Int
    ) throws -> (found: BodyMessage, message: MessageChoice)? {
        let interaction = try self.interaction(number)
        // Both sides number their messages from 1.
        var sides: [(side: MessageChoice, messages: BodyMessages)] = []
        for side in message.map({ [$0] }) ?? MessageChoice.allCases {
            if let messages = interaction.body(of: side).body.flatMap({ BodyMessages($0, reader: self.reader) }) {
                sides.append((side, messages))
            }
        }
        guard let (side, messages) = sides.first else { return nil }
        if sides.count > 1 {
            throw InspectError(
                .noPart, "the request and the response of exchange \(number) both have messages: add --body request or --body response.")
        }
        if let found = messages[wanted] { return (found, side) }
        let range = messages.all.isEmpty ? "none" : messages.all.count == 1 ? "only 1" : "1 to \(messages.all.count)"
        throw InspectError(
            .noPart, "there is no message \"\(wanted)\" in the \(side.rawValue) body of exchange \(number): it has \(range).")
    }

    private func findPart(
        _ wanted: String, in message: MessageChoice?, of number: Int
    ) throws -> (part: BodyPart, contents: BodyContents, message: MessageChoice) {
        let interaction = try self.interaction(number)
        for message in message.map({ [$0] }) ?? MessageChoice.allCases {
            let (body, headers) = interaction.body(of: message)
            guard let body else { continue }
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

    // MARK: Bytes

    private func writeBytes(_ contents: BodyContents, _ what: String) throws {
        if self.screen.isTerminal, try !Self.isFitForTerminal(contents) {
            guard try !self.showImage(contents) else { return }
            throw InspectError(
                .unfitForTerminal, "\(what) holds bytes that are not text: redirect it to a file, or pipe it to a program such as \"less\"."
            )
        }
        try contents.forEachPiece { try self.write($0) }
    }

    private func writeWire(_ body: Body, _ contents: BodyContents, _ what: String) throws {
        if self.screen.isTerminal, try !body.codings.isEmpty || contents.inflated != nil || !Self.isFitForTerminal(contents) {
            throw InspectError(
                .unfitForTerminal, "\(what) holds bytes that are not text: redirect it to a file, or pipe it to a program such as \"less\"."
            )
        }
        let reader = self.reader
        let isEdited = try BodyRestorer.streamWire(
            of: body, file: { try reader.source($0, digest: PortableSHA256()) }, raw: { ByteSource(try reader.read($0)) },
            digest: PortableSHA256(), deliver: self.write)
        if isEdited { self.warn("\(what) was edited after it was recorded: these are not the bytes that were received.") }
    }

    /// - Returns: whether the body is an image that the terminal can show.
    private func showImage(_ contents: BodyContents) throws -> Bool {
        guard let width = self.screen.width, let kind = self.screen.images,
            let image = ImageInfo(try contents.prefix(ImageInfo.prefixSize)),
            let bytes = try contents.load(limit: InlineImage.limit), let shown = InlineImage(image, bytes, columns: width, kind)
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

    // MARK: All bodies

    /// Lists the defects of uploads.
    ///
    /// - Parameters:
    ///   - number: nil for all exchanges.
    ///   - server: the server whose limits apply; nil for none.
    /// - Returns: how many defects there are.
    @discardableResult
    func lint(_ number: Int?, server: UploadServer? = nil) throws -> Int {
        var page = LintPage(screen: self.screen, write: self.write)
        try self.forEachUpload(number, server) { number, message, interaction, lint, isCoded in
            try page.show(lint, exchange: number, message: message, request: interaction.request, isCoded: isCoded)
        }
        try page.finish()
        return page.defects
    }

    @discardableResult
    func lintJSON(_ number: Int?, server: UploadServer? = nil) throws -> Int {
        var writer = JSONWriter()
        writer.beginArray(.lines)
        var count = 0
        try self.forEachUpload(number, server) { number, message, _, lint, _ in
            count += lint.findings.count
            for finding in lint.findings { BodyJSON.append(finding, exchange: number, message: message, to: &writer) }
        }
        writer.endArray()
        try self.writeJSON(writer.bytes)
        return count
    }

    /// Writes bodies and parts into a folder, and lists the files.
    func extract(_ number: Int?, to path: String, overwrites: Bool, json: Bool) throws {
        let extraction = BodyExtraction(folder: try ExtractFolder(path, overwrites: overwrites, from: self.file), reader: self.reader)
        var writer = JSONWriter()
        writer.beginArray(.lines)
        var count = 0
        var problems: [CassetteError] = []
        try self.forEach(number) { number, interaction in
            do {
                let left = try extraction.extract(interaction, number: number) { file in
                    count += 1
                    if json { return BodyJSON.append(file, to: &writer) }
                    let words = [file.words, Quantity.bytes(file.size)].compactMap { $0 }.joined(separator: ", ")
                    try self.write(VisibleText.line(file.path) + self.screen.paint("  \(VisibleText.line(words))", .dim) + "\n")
                }
                if left > 0 {
                    self.warn(
                        "exchange \(number) has \(Quantity.count(left, "more message")), which got no file: \"wiretape inspect \(ShellWord.quoted(self.file)) \(number) --message N\" writes one."
                    )
                }
            } catch let error as CassetteError {
                // A missing body must not hide the others.
                self.warn(error.message)
                problems.append(error)
            }
        }
        writer.endArray()
        if json {
            try self.writeJSON(writer.bytes)
        } else {
            try self.write("\(Quantity.count(count, "file")) in \"\(VisibleText.line(path))\".\n")
        }
        if !problems.isEmpty {
            throw InspectError(.noBody, "\(Quantity.count(problems.count, "exchange")) could not be extracted: see above for why.")
        }
    }

    private func forEach(_ number: Int?, _ body: (Int, Interaction) throws -> Void) throws {
        guard let number else { return try self.forEachWanted(body) }
        try body(number, self.interaction(number))
    }

    private func forEachUpload(
        _ number: Int?, _ server: UploadServer?, _ found: (Int, MessageChoice, Interaction, BodyLint, Bool) throws -> Void
    ) throws {
        try self.forEach(number) { number, interaction in
            for message in MessageChoice.allCases {
                let (body, headers) = interaction.body(of: message)
                guard let body, message == .request || MultipartType(headers) != nil else { continue }
                let contents = try BodyContents(body, headers: headers, reader: self.reader, readsBroken: true)
                let context = BodyLint.Context(side: message, body: body, server: server)
                guard let lint = try BodyLint(contents, headers: headers, context) else { continue }
                try found(number, message, interaction, lint, !body.codings.isEmpty || contents.inflated != nil)
            }
        }
    }

    // MARK: A request as a command

    /// - Parameter files: the folder for the files that the command needs; nil for a comment on how to get them.
    func curl(_ number: Int, files: String?, overwrites: Bool) throws {
        let folder = files ?? "wiretape-\(number)"
        var command = try CurlCommand(self.interaction(number), number: number, folder: folder, reader: self.reader)
        if let files, !command.files.isEmpty {
            let folder = try ExtractFolder(files, overwrites: overwrites, from: self.file)
            for file in command.files { try self.write(file.contents, to: file.name, in: folder) }
        } else if !command.files.isEmpty {
            let again = "wiretape show \(ShellWord.quoted(self.file)) \(number) --curl --files \(folder)"
            command.notes.insert("first, for the files that it sends: \(again) > /dev/null", at: 0)
        }
        try self.write(command.text)
    }

    private func write(_ contents: CurlCommand.Contents, to name: String, in folder: ExtractFolder) throws {
        if try contents.write(to: name, in: folder, reader: self.reader) {
            self.warn("the request body was edited after it was recorded: \"\(folder.path)/\(name)\" does not hold what was received.")
        }
    }

    // MARK: Common to all views

    var reader: BodyReader { BodyReader(cassettePath: self.cassette.path) }

    private func interaction(_ number: Int) throws -> Interaction { try self.cassette.interaction(at: self.index(of: number)) }

    private func index(of number: Int) throws(InspectError) -> Int {
        guard number < 1 || number > self.cassette.count else { return number - 1 }
        let range =
            switch self.cassette.count {
            case 0: "holds none"
            case 1: "has only 1"
            case let count: "has 1 to \(count)"
            }
        throw InspectError(.noExchange, "there is no exchange \(number): \"\(self.file)\" \(range).")
    }

    func write(_ text: String) throws {
        var text = text
        try text.withUTF8 { try self.write(UnsafeRawBufferPointer($0)) }
    }
}

/// The properties of the screen to which an inspection writes.
struct InspectScreen: Sendable {
    /// Columns of the terminal; nil if the text goes to a file or another program, which is not shortened.
    var width: Int?
    var paint: Paint
    /// How the terminal shows images within text; nil if it shows none.
    var images: ImageProtocol?

    var isTerminal: Bool { self.width != nil }

    static var current: InspectScreen {
        InspectScreen(
            width: Terminal.output.isTerminal ? Terminal.output.width : nil, paint: Paint(isOn: Terminal.output.usesColor),
            images: Terminal.output.isTerminal ? ImageProtocol.current : nil)
    }
}
