internal import CassetteModel
internal import CassetteStore
internal import CassetteTools

/// The messages of both sides of a WebSocket, for people: each with its direction, its time and its content.
///
/// Holds one message at a time.
struct ConversationPage {
    /// A terminal shows at most this many messages.
    static let limit = PartsPage.limit

    /// The command line that shows the exchange.
    var command: String
    var screen: InspectScreen
    var reader: BodyReader
    var write: (String) throws -> Void

    func show(_ messages: WebSocketMessages) throws {
        var shown = 0
        try self.reader.forEachSocketMessage(of: messages) { message in
            guard !self.screen.isTerminal || shown < Self.limit else { return false }
            shown += 1
            try self.show(message)
            return true
        }
        guard shown < messages.count else { return }
        let text = "… \(messages.count - shown) more messages; for one of them: \(self.command) --message N"
        try self.write("\n" + IndentedText.indentation + self.screen.paint(text, .dim) + "\n")
    }

    private func show(_ message: SocketMessage) throws {
        let indentation = IndentedText.indentation
        let isData = message.message.content.isData
        try self.write(
            "\n" + indentation + self.screen.paint(VisibleText.line(message.words), isData ? .bold : .dim) + "\n")
        if let note = message.message.note {
            try self.write(indentation + indentation + self.screen.paint("note: \(VisibleText.line(note))", .dim) + "\n")
        }
        guard isData else { return }
        let page = BodyPage(
            command: "\(self.command) --message \(message.number)", screen: self.screen, indentation: indentation + indentation,
            write: self.write)
        try page.show(message.contents(), headers: HeaderFields(), known: message.known)
    }
}

extension SocketMessage {
    fileprivate var known: BodyPage.Known {
        switch self.message.content {
        case .text(.json), .binary(.json): .json
        case .text(.text), .binary(.text): .text
        case .text, .binary, .ping, .pong, .close: .nothing
        }
    }
}

/// The events of a stream for people, each with its name, its time and its data.
///
/// Holds one event at a time.
struct EventsPage {
    /// The command line that shows the exchange's body.
    var command: String
    var screen: InspectScreen
    var write: (String) throws -> Void

    func show(_ events: BodyEvents) throws {
        let indentation = IndentedText.indentation
        var shown = 0
        try events.forEach { event in
            guard !self.screen.isTerminal || shown < PartsPage.limit else { return false }
            shown += 1
            try self.write("\n" + indentation + self.screen.paint(VisibleText.line(event.words), .bold) + "\n")
            let page = BodyPage(
                command: "\(self.command) --message \(event.number)", screen: self.screen, indentation: indentation + indentation,
                write: self.write)
            try page.show(event.contents, headers: HeaderFields())
            return true
        }
        if shown < events.count {
            let text = "… \(events.count - shown) more \(events.noun)s; for one of them: \(self.command) --message N"
            try self.write("\n" + indentation + self.screen.paint(text, .dim) + "\n")
        }
        if events.rest > 0 {
            let text = "and \(Quantity.count(events.rest, "byte")) of one that was cut"
            try self.write("\n" + indentation + self.screen.paint(text, .dim) + "\n")
        }
    }
}
