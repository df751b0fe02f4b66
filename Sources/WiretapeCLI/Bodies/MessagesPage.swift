internal import CassetteModel
internal import CassetteTools

/// The messages of a gRPC body for people: each with its fields as a tree, or as whatever else it contains.
struct MessagesPage {
    /// A terminal shows at most this many messages.
    static let limit = PartsPage.limit

    /// The command line that shows the exchange's body.
    var command: String
    var screen: InspectScreen
    var write: (String) throws -> Void

    func show(_ messages: BodyMessages) throws {
        let shown = self.screen.isTerminal ? messages.all.prefix(Self.limit) : messages.all[...]
        let indentation = IndentedText.indentation
        for message in shown {
            try self.write("\n" + indentation + self.screen.paint(VisibleText.line(message.words), .bold) + "\n")
            let command = "\(self.command) --part \(message.number)"
            if let tree = message.tree {
                try self.show(tree, command, indentation + indentation)
            } else {
                let page = BodyPage(
                    command: command, screen: self.screen, indentation: indentation + indentation, write: self.write)
                try page.show(message.contents(), headers: HeaderFields(), known: message.known)
            }
        }
        if shown.count < messages.all.count {
            let text = "… \(messages.all.count - shown.count) more messages; for one of them: \(self.command) --part N"
            try self.write("\n" + indentation + self.screen.paint(text, .dim) + "\n")
        }
    }

    private func show(_ tree: ProtoMessage, _ command: String, _ indentation: String) throws {
        var text = IndentedText(isLimited: self.screen.isTerminal, indentation: "")
        var isWhole = true
        try ProtoText.write(tree) { line in
            let start = indentation + String(repeating: IndentedText.indentation, count: line.depth) + line.key
            let label = line.label.isEmpty ? "" : " (\(line.label))"
            let shown = text.push("\(start)\(line.value.isEmpty ? "" : " ")\(line.value)\(label)\n")
            guard !text.isCut else {
                isWhole = false
                return false
            }
            let rest = shown.utf8.dropFirst(start.utf8.count)
            let key = String(repeating: " ", count: start.utf8.count - line.key.utf8.count) + self.screen.paint(line.key, .cyan)
            try self.write(key + String(Substring(rest)))
            return true
        }
        if !isWhole { try self.write(indentation + self.screen.paint("… the beginning; for all of it: \(command) > FILE", .dim) + "\n") }
    }
}

extension BodyMessage {
    fileprivate var known: BodyPage.Known {
        switch self.message.content {
        case .json: .json
        case .text: .text
        case .proto, .binary, .file: .nothing
        }
    }
}
