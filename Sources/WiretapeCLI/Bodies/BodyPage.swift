internal import CassetteModel
internal import CassetteTools
internal import TapeBytes

/// One body for people: JSON formatted, text as it is, images shown or described, a hex dump of the first bytes of anything else.
///
/// Does not split a multipart body: `PartsPage` does, and shows each part as one of these.
struct BodyPage {
    /// JSON up to this size is formatted; larger JSON is shown as plain text.
    private static let jsonLimit = 4 << 20
    /// The number of bytes in a hex dump.
    private static let dumpSize = 256

    /// The command line that shows the whole body.
    var command: String
    var screen: InspectScreen
    var indentation = IndentedText.indentation
    var write: (String) throws -> Void

    /// The kind of the body that the cassette knows, whatever its Content-Type says.
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
        guard let bytes = try contents.load(limit: Self.jsonLimit) else { return try self.showText(contents) }
        var writer = JSONWriter()
        guard bytes.withUnsafeBytes({ JSONBody.write($0, into: &writer, depth: 0) }) else {
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
            // Split into small pieces, since a body in memory comes as one.
            for start in stride(from: 0, to: piece.count, by: ByteSource.pieceSize) {
                let end = min(piece.count, start + ByteSource.pieceSize)
                try show(visible.push(UnsafeRawBufferPointer(rebasing: piece[start..<end])))
                if text.isCut { return false }
            }
            return true
        })
        if !text.isCut { try show(visible.push(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true)) }
        try self.end(text)
    }

    /// One field per line, decoded.
    private func showForm(_ contents: BodyContents) throws {
        guard let bytes = try contents.load(limit: Self.jsonLimit) else { return try self.showText(contents) }
        var text = self.indented()
        for field in FormFields.decode(bytes) {
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
        guard let bytes = try contents.load(limit: InlineImage.limit) else { return }
        let room = max(1, width - self.indentation.utf8.count * 2)
        guard let shown = InlineImage(image, bytes, columns: room, images) else { return }
        try self.write(self.indentation + shown.sequence + "\n")
    }

    private func showDump(_ contents: BodyContents) throws {
        let bytes = try contents.prefix(Self.dumpSize)
        for row in HexDump.rows(bytes) { try self.write(self.indentation + row + "\n") }
        guard contents.size > bytes.count else { return }
        try self.hint("the first \(bytes.count) of \(contents.size) bytes; for all of them: \(self.command) > FILE")
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

/// Body text for a screen: each line is indented, and on a terminal the text ends after a number of lines.
struct IndentedText {
    /// A terminal shows at most this many lines of one body.
    static let lineLimit = 200
    /// In bytes, for text without line ends.
    static let byteLimit = 64 << 10
    static let indentation = "  "

    /// Whether the limit cut the text.
    private(set) var isCut = false
    private(set) var isAtLineStart = true
    private let isLimited: Bool
    private let indentation: String
    private var lines = 0
    private var bytes = 0

    init(isLimited: Bool, indentation: String = Self.indentation) {
        self.isLimited = isLimited
        self.indentation = indentation
    }

    /// The piece, indented, up to the limit.
    mutating func push(_ piece: String) -> String {
        guard !self.isCut else { return "" }
        guard self.isLimited else { return self.indent(piece[...]) }
        var end = piece.startIndex
        while end < piece.endIndex {
            guard self.lines < Self.lineLimit, self.bytes < Self.byteLimit else {
                self.isCut = true
                break
            }
            let character = piece.unicodeScalars[end]
            end = piece.unicodeScalars.index(after: end)
            self.bytes += UTF8.width(character)
            if character == "\n" { self.lines += 1 }
        }
        return self.indent(piece[..<end])
    }

    private mutating func indent(_ piece: Substring) -> String {
        var shown: [UInt8] = []
        shown.reserveCapacity(piece.utf8.count + 64)
        for byte in piece.utf8 {
            if self.isAtLineStart, byte != 10 { shown.append(contentsOf: self.indentation.utf8) }
            shown.append(byte)
            self.isAtLineStart = byte == 10
        }
        return String(decoding: shown, as: UTF8.self)
    }
}

/// The parts of a multipart body for people, each with its header lines and its content.
struct PartsPage {
    /// A terminal shows at most this many parts.
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

/// The lint view of uploads: each defect with its offset, a sentence, the bytes around it, and what to write instead.
///
/// Offsets count in the decoded body.
struct LintPage {
    private let screen: InspectScreen
    private let write: (String) throws -> Void
    private var bodies = 0
    private(set) var defects = 0

    init(screen: InspectScreen, write: @escaping (String) throws -> Void) {
        self.screen = screen
        self.write = write
    }

    /// - Parameter isCoded: adds a note that offsets are not those of the wire.
    mutating func show(_ lint: BodyLint, exchange: Int, message: MessageChoice, request: RecordedRequest, isCoded: Bool) throws {
        try self.show(lint, "exchange \(exchange), \(message.rawValue) of \(request.method) \(request.url)", isCoded: isCoded)
    }

    /// - Parameter what: the body, for people.
    mutating func show(_ lint: BodyLint, _ what: String, isCoded: Bool) throws {
        self.bodies += 1
        self.defects += lint.findings.count
        let what = VisibleText.line(what)
        let count = lint.findings.isEmpty ? "no defects" : Quantity.count(lint.findings.count, "defect")
        try self.line("\(what): \(count)", lint.findings.isEmpty ? .green : .bold)
        if isCoded, !lint.findings.isEmpty { try self.line("  offsets are those of the decoded body", .dim) }
        for finding in lint.findings {
            try self.write("\n")
            let place = finding.offset.map { "offset \($0)" } ?? "header fields"
            let sentence = VisibleText.line("\(place): \(finding.sentence)")
            let lines = self.screen.width.map { TextWidth.wrapped(sentence, to: max($0 - 2, place.utf8.count + 1)) } ?? [sentence]
            for (index, line) in lines.enumerated() {
                let marked = index == 0 ? self.screen.paint(place, .yellow) + line.dropFirst(place.count) : line
                try self.write("  \(marked)\n")
            }
            for row in finding.excerpt?.lines ?? [] { try self.line("    \(row)", row.hasPrefix(" ") ? .yellow : .dim) }
            for row in finding.change?.lines ?? [] { try self.line("    \(VisibleText.line(row))", row.hasPrefix("-") ? .red : .green) }
        }
        if !lint.findings.isEmpty { try self.write("\n") }
    }

    func finish() throws {
        guard self.bodies > 0 else { return try self.write("no body is an upload: nothing to check.\n") }
        let found = self.defects == 0 ? "no defects" : Quantity.count(self.defects, "defect")
        try self.line("\(found) in \(Quantity.count(self.bodies, "upload")).", .dim)
    }

    private func line(_ text: String, _ color: Paint.Color) throws { try self.write(self.screen.paint(text, color) + "\n") }
}
