internal import CassetteModel
internal import TapeBytes

/// One body for people: JSON formatted, text as it is, images shown or described, a hex dump of the first bytes of anything else.
///
/// Does not split a multipart body: `PartsPage` does, and shows each part as one of these.
struct BodyPage {
    /// JSON up to this size is formatted; larger JSON is shown as plain text.
    private static let jsonLimit = 4 << 20
    /// Bytes in a hex dump.
    private static let dumpSize = 256

    /// The command line that shows the whole body.
    var command: String
    var screen: InspectScreen
    var indentation = IndentedText.indentation
    var write: (String) throws -> Void

    /// What the cassette says about a body, whatever its Content-Type says.
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

/// The fields of an `application/x-www-form-urlencoded` body as people read them.
///
/// Not exact: the recorded spelling stays in the cassette.
enum FormFields {
    struct Field: Equatable {
        var name: [UInt8]
        var value: [UInt8]
    }

    static func decode(_ bytes: [UInt8]) -> [Field] {
        bytes.split(separator: UInt8(ascii: "&")).map { part in
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            return Field(name: self.plain(part[..<equals]), value: self.plain(part[equals...].dropFirst()))
        }
    }

    /// Decodes `+` and percent escapes (WHATWG URL, 5.1).
    private static func plain(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var index = text.startIndex
        while index < text.endIndex {
            if text[index] == UInt8(ascii: "%"), text.endIndex - index > 2, let high = self.digit(text[index + 1]),
                let low = self.digit(text[index + 2])
            {
                bytes.append(high << 4 | low)
                index += 3
            } else {
                bytes.append(text[index] == UInt8(ascii: "+") ? 32 : text[index])
                index += 1
            }
        }
        return bytes
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.flatMap { byte < 0x80 ? UInt8($0) : nil }
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

/// Bytes as a hex dump: an offset, sixteen bytes in hex, and the ASCII characters among them.
enum HexDump {
    static let rowSize = 16

    /// - Parameter start: the offset of the first byte, for the first column.
    static func rows(_ bytes: [UInt8], from start: Int = 0) -> [String] {
        stride(from: 0, to: bytes.count, by: self.rowSize).map { offset in
            let row = bytes[offset..<min(offset + self.rowSize, bytes.count)]
            var hex = ""
            for index in 0..<self.rowSize {
                if index == self.rowSize / 2 { hex += " " }
                hex += index < row.count ? self.digits(Int(row[offset + index]), 2) + " " : "   "
            }
            let text = row.map { $0 >= 0x20 && $0 < 0x7F ? String(Unicode.Scalar($0)) : "." }.joined()
            return "\(self.digits(start + offset, 8))  \(hex) \(text)"
        }
    }

    /// The columns of a byte's digits and of its character in a row.
    static func columns(of index: Int) -> (digits: Int, character: Int) {
        (10 + index * 3 + (index >= self.rowSize / 2 ? 1 : 0), 10 + self.rowSize * 3 + 2 + index)
    }

    private static func digits(_ value: Int, _ count: Int) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}
