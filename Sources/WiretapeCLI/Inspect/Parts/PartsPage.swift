internal import CassetteModel

/// The parts of a multipart body for people, each with its header lines and its content.
struct PartsPage {
    /// More parts than this make people scroll.
    static let limit = 50

    /// The command line that shows the exchange's body.
    var command: String
    var screen: InspectScreen
    var write: (String) throws -> Void

    func show(_ parts: BodyParts, in body: BodyContents) throws {
        let shown = self.screen.isTerminal ? parts.all.prefix(Self.limit) : parts.all[...]
        for part in shown {
            try self.write("\n")
            let level = part.label.utf8.filter { $0 == UInt8(ascii: ".") }.count
            let indentation = String(repeating: IndentedText.indentation, count: level + 1)
            try self.write(indentation + self.screen.paint(VisibleText.line(part.words), .bold) + "\n")
            try self.fields(part.fields, indentation)
            guard !part.isMultipart else { continue }
            let page = BodyPage(
                command: "\(self.command) --part \(part.label)", screen: self.screen, indentation: indentation + IndentedText.indentation,
                write: self.write)
            try page.show(part.contents(in: body), headers: part.fields)
        }
        if shown.count < parts.all.count {
            let text = "… \(parts.all.count - shown.count) more parts; for one of them: \(self.command) --part N"
            try self.write("\n" + IndentedText.indentation + self.screen.paint(text, .dim) + "\n")
        }
    }

    private func fields(_ fields: HeaderFields, _ indentation: String) throws {
        for index in 0..<fields.count {
            let name = fields.nameBytes(at: index)
            let rest = fields.line(at: index).dropFirst(name.count)
            try self.write(indentation + self.screen.paint(VisibleText.line(name), .cyan) + VisibleText.line(rest) + "\n")
        }
    }
}
