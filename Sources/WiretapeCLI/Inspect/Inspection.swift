internal import CassetteModel
internal import CassettePlayback
internal import CassetteStore

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
