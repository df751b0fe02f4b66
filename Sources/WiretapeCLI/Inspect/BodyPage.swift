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

/// The fields of an `application/x-www-form-urlencoded` body as people read them.
///
/// Not exact: the recorded spelling stays in the cassette.
enum FormFields {
    struct Field: Equatable {
        var name: [UInt8]
        var value: [UInt8]
    }

    static func decode(_ octets: [UInt8]) -> [Field] {
        octets.split(separator: UInt8(ascii: "&")).map { part in
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            return Field(name: self.plain(part[..<equals]), value: self.plain(part[equals...].dropFirst()))
        }
    }

    /// With `+` and percent escapes taken off (WHATWG URL, 5.1).
    private static func plain(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var octets: [UInt8] = []
        var index = text.startIndex
        while index < text.endIndex {
            if text[index] == UInt8(ascii: "%"), text.endIndex - index > 2, let high = self.digit(text[index + 1]),
                let low = self.digit(text[index + 2])
            {
                octets.append(high << 4 | low)
                index += 3
            } else {
                octets.append(text[index] == UInt8(ascii: "+") ? 32 : text[index])
                index += 1
            }
        }
        return octets
    }

    private static func digit(_ octet: UInt8) -> UInt8? {
        Character(Unicode.Scalar(octet)).hexDigitValue.flatMap { octet < 0x80 ? UInt8($0) : nil }
    }
}

/// Colours JSON text: names, strings, numbers and words, each in its own colour.
///
/// Goes by the characters alone, so that the beginning of a text is coloured as well. Changes nothing else.
struct JSONPaint {
    var paint: Paint

    func callAsFunction(_ text: String) -> String {
        guard self.paint.isOn else { return text }
        let octets = Array(text.utf8)
        var painted: [UInt8] = []
        painted.reserveCapacity(octets.count * 2)
        var offset = 0
        while offset < octets.count {
            let start = offset
            let color: Paint.Color?
            switch octets[offset] {
            case UInt8(ascii: "\""):
                offset = Self.endOfString(octets, from: offset)
                color = Self.isName(octets, behind: offset) ? .cyan : .green
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                offset = octets[offset...].firstIndex { !Self.isOfNumber($0) } ?? octets.count
                color = .yellow
            case UInt8(ascii: "a")...UInt8(ascii: "z"):
                offset = octets[offset...].firstIndex { !(UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) } ?? octets.count
                color = .magenta
            default:
                offset = octets[(offset + 1)...].firstIndex(where: Self.isStart) ?? octets.count
                color = nil
            }
            painted.append(contentsOf: self.paint(String(decoding: octets[start..<offset], as: UTF8.self), color).utf8)
        }
        return String(decoding: painted, as: UTF8.self)
    }

    private static func endOfString(_ octets: [UInt8], from start: Int) -> Int {
        var offset = start + 1
        while offset < octets.count {
            if octets[offset] == UInt8(ascii: "\"") { return offset + 1 }
            offset += octets[offset] == UInt8(ascii: "\\") ? 2 : 1
        }
        return octets.count
    }

    private static func isName(_ octets: [UInt8], behind end: Int) -> Bool {
        octets[end...].first { $0 != 32 && $0 != 9 && $0 != 10 } == UInt8(ascii: ":")
    }

    private static func isOfNumber(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "e"),
            UInt8(ascii: "E"):
            true
        default: false
        }
    }

    private static func isStart(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "\""), UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        default: false
        }
    }
}

/// Colours XML and HTML lightly: tags, attribute values and comments.
///
/// Takes text in pieces. Knows no grammar: what stands between `<` and `>` is a tag, scripts included.
struct MarkupPaint {
    private enum Place {
        case text, tag, comment
        case value(quote: UInt8)

        var color: Paint.Color? {
            switch self {
            case .text: nil
            case .tag: .cyan
            case .comment: .dim
            case .value: .green
            }
        }
    }

    private let paint: Paint
    private var place = Place.text
    /// The end of what came before, where a comment's ends can begin: as much as `<!--` but one.
    private var last: [UInt8] = []

    init(_ paint: Paint) {
        self.paint = paint
    }

    /// A run of one colour never goes over a line's end, so that an end after any line leaves no colour on.
    mutating func push(_ piece: String) -> String {
        guard self.paint.isOn else { return piece }
        var painted = ""
        var run: [UInt8] = []
        func flush(_ color: Paint.Color?) {
            painted += self.paint(String(decoding: run, as: UTF8.self), color)
            run.removeAll(keepingCapacity: true)
        }
        for octet in piece.utf8 {
            if octet == 10 {
                flush(self.place.color)
                painted += "\n"
                self.remember(octet)
                continue
            }
            switch (self.place, octet) {
            case (.text, UInt8(ascii: "<")):
                flush(nil)
                self.place = .tag
                run.append(octet)
            case (.tag, UInt8(ascii: ">")):
                run.append(octet)
                flush(.cyan)
                self.place = .text
            case (.tag, UInt8(ascii: "\"")), (.tag, UInt8(ascii: "'")):
                flush(.cyan)
                self.place = .value(quote: octet)
                run.append(octet)
            case (.tag, UInt8(ascii: "-")) where self.last.suffix(3) == Array("<!-".utf8)[...]:
                self.place = .comment
                run.append(octet)
            case (.comment, UInt8(ascii: ">")) where self.last.suffix(2) == Array("--".utf8)[...]:
                run.append(octet)
                flush(.dim)
                self.place = .text
            case (.value(let quote), octet) where quote == octet:
                run.append(octet)
                flush(.green)
                self.place = .tag
            default: run.append(octet)
            }
            self.remember(octet)
        }
        flush(self.place.color)
        return painted
    }

    private mutating func remember(_ octet: UInt8) {
        self.last.append(octet)
        if self.last.count > 3 { self.last.removeFirst() }
    }
}
