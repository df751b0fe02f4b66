internal import TapeCore

/// Shows what a cassette holds: the list, one exchange, or one body.
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

    // MARK: The list

    func list() throws {
        guard self.cassette.count > 0 else { return try self.write("\"\(self.file)\" holds no exchanges.\n") }
        var table = ExchangeTable(count: self.cassette.count, screen: self.screen, write: self.write)
        for index in 0..<self.cassette.count { try table.append(ExchangeRow(number: index + 1, self.cassette.interaction(at: index))) }
        try table.finish()
    }

    func listJSON() throws {
        var list = ExchangeListJSON(isForTerminal: self.screen.isTerminal, write: self.write)
        for index in 0..<self.cassette.count { try list.append(ExchangeRow(number: index + 1, self.cassette.interaction(at: index))) }
        try list.finish()
    }

    // MARK: One exchange

    func show(_ number: Int) throws {
        let index = try self.index(of: number)
        let interaction = try self.cassette.interaction(at: index)
        let first = try self.cassette.interaction(at: 0).started
        let opening = interaction.connection.flatMap { self.cassette.opening(of: $0, before: index) }
        let page = ExchangePage(
            screen: self.screen, reader: BodyReader(cassettePath: self.cassette.path),
            command: "wiretape inspect \(ShellWord.quoted(self.file)) \(number)",
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

    /// A body's octets without codings, and nothing else.
    func body(_ message: MessageChoice, of number: Int) throws {
        let interaction = try self.cassette.interaction(at: self.index(of: number))
        let (found, headers) =
            switch message {
            case .request: (interaction.request.body, interaction.request.headers)
            case .response: (interaction.response?.body, interaction.response?.headers ?? HeaderFields())
            }
        guard let body = found else {
            let what = message == .response && interaction.response == nil ? "no response" : "no \(message.rawValue) body"
            throw InspectError(.noBody, "exchange \(number) of \"\(self.file)\" has \(what): see it with \"wiretape inspect\".")
        }
        let contents = try BodyContents(body, headers: headers, reader: BodyReader(cassettePath: self.cassette.path))
        if self.screen.isTerminal, try !Self.isFitForTerminal(contents) {
            throw InspectError(
                .unfitForTerminal,
                "the \(message.rawValue) body of exchange \(number) holds octets that are not text: send it to a file or a program, as \"| less\"."
            )
        }
        try contents.forEachPiece { try self.write($0) }
        if !body.isComplete {
            self.warn("the \(message.rawValue) body of exchange \(number) was cut short: these are the octets that came.")
        }
        if body.codings.isEmpty, contents.inflated == nil, body.size > 0, let coding = BodyWords.coding(headers) {
            self.warn("the \(message.rawValue) body of exchange \(number) is still coded as \(coding), as it was received.")
        }
    }

    private static func isFitForTerminal(_ contents: BodyContents) throws -> Bool {
        guard try BodyPage.isText(contents) else { return false }
        var text = VisibleText(.lines)
        try contents.forEachPiece(while: { piece in
            _ = text.push(piece)
            return !text.hasEscaped
        })
        _ = text.push(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true)
        return !text.hasEscaped
    }

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

    private func write(_ text: String) throws {
        var text = text
        try text.withUTF8 { try self.write(UnsafeRawBufferPointer($0)) }
    }
}
