internal import CassetteModel
internal import TapeBytes

/// One body for people: JSON laid out, text as it is, images as images or described, a dump of the first octets of anything else.
///
/// Does not take a multipart body apart: `PartsPage` does, and gives each part to one of these.
struct BodyPage {
    /// JSON up to this is laid out; more of it is shown as the text it is.
    private static let jsonLimit = 4 << 20
    /// Octets of a dump.
    static let dumpSize = 256

    /// How to see the whole body, as a command line.
    var command: String
    var screen: InspectScreen
    var indentation = IndentedText.indentation
    var write: (String) throws -> Void

    /// What the cassette itself says of a body, whatever its type says.
    enum Known { case json, text, nothing }

    func show(_ contents: BodyContents, headers: HeaderFields, known: Known = .nothing) throws {
        guard contents.size != 0 else { return }
        let form = try known == .json ? .json : BodyForm(contents, headers: headers, isText: known == .text)
        switch form {
        case .json: try self.showJSON(contents)
        case .lines: try self.showLines(contents)
        case .form: try self.showForm(contents)
        case .markup: try self.showMarkup(contents)
        case .text: try self.showText(contents)
        case .image(let image): try self.showImage(contents, image)
        case .binary:
            guard let text = try DecodedText.read(contents, headers: headers) else { return try self.showDump(contents) }
            try self.show(text, headers: headers, known: .text)
        }
    }

    // MARK: Forms

    private func showJSON(_ contents: BodyContents) throws {
        guard let octets = try contents.load(limit: Self.jsonLimit) else { return try self.showText(contents) }
        var writer = JSONWriter()
        guard octets.withUnsafeBytes({ JSONBody.write($0, into: &writer, depth: 0) }) else {
            return try self.showText(contents)
        }
        var text = self.indented()
        try self.write(JSONPaint(paint: self.screen.paint)(text.push(VisibleText.whole(writer.bytes, .json))))
        try self.end(text)
    }

    private func showMarkup(_ contents: BodyContents) throws {
        var painter = MarkupPaint(self.screen.paint)
        try self.showText(contents) { painter.push($0) }
    }

    private func showLines(_ contents: BodyContents) throws {
        let painter = JSONPaint(paint: self.screen.paint)
        try self.showText(contents) { painter($0) }
    }

    private func showText(_ contents: BodyContents, paint: (String) -> String = { $0 }) throws {
        var text = self.indented()
        var visible = VisibleText(.lines)
        func show(_ piece: String) throws { try self.write(paint(text.push(piece))) }
        try contents.forEachPiece(while: { piece in
            // Small ones, since a body in memory comes as one.
            for start in stride(from: 0, to: piece.count, by: OctetSource.pieceSize) {
                let end = min(piece.count, start + OctetSource.pieceSize)
                try show(visible.push(UnsafeRawBufferPointer(rebasing: piece[start..<end])))
                if text.isCut { return false }
            }
            return true
        })
        if !text.isCut { try show(visible.push(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true)) }
        try self.end(text)
    }

    /// A field on a line, decoded.
    private func showForm(_ contents: BodyContents) throws {
        guard let octets = try contents.load(limit: Self.jsonLimit) else { return try self.showText(contents) }
        var text = self.indented()
        for field in FormFields.decode(octets) {
            let name = VisibleText.line(field.name)
            let line = text.push("\(name) = \(VisibleText.line(field.value))\n")
            if text.isCut {
                try self.write(line)
                break
            }
            let rest = line.utf8.dropFirst(self.indentation.utf8.count + name.utf8.count)
            try self.write(self.indentation + self.screen.paint(name, .cyan) + String(Substring(rest)))
        }
        try self.end(text)
    }

    private func showImage(_ contents: BodyContents, _ image: ImageInfo) throws {
        try self.write("\(self.indentation)\(image.description)\n")
        guard let width = self.screen.width, let images = self.screen.images else { return }
        guard let octets = try contents.load(limit: InlineImage.limit) else { return }
        let room = max(1, width - self.indentation.utf8.count * 2)
        guard let shown = InlineImage(image, octets, columns: room, images) else { return }
        try self.write(self.indentation + shown.sequence + "\n")
    }

    private func showDump(_ contents: BodyContents) throws {
        let octets = try contents.prefix(Self.dumpSize)
        for row in HexDump.rows(octets) { try self.write(self.indentation + row + "\n") }
        guard contents.size > octets.count else { return }
        try self.hint("the first \(octets.count) of \(contents.size) octets; for all of them: \(self.command) > FILE")
    }

    // MARK: Lines

    private func indented() -> IndentedText { IndentedText(isLimited: self.screen.isTerminal, indentation: self.indentation) }

    private func end(_ text: IndentedText) throws {
        if !text.isAtLineStart { try self.write("\n") }
        if text.isCut { try self.hint("the beginning; for all of it: \(self.command)") }
    }

    private func hint(_ text: String) throws {
        try self.write(self.indentation + self.screen.paint("… \(text)", .dim) + "\n")
    }
}
