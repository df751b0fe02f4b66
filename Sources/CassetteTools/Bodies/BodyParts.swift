package import CassetteModel

/// The parts of a body that is or should be multipart, whatever its Content-Type says.
///
/// Reads the body once and keeps only header sections.
package struct BodyParts {
    /// Nested parts follow the part that contains them.
    package var all: [BodyPart]
    /// Whether the body uses a boundary other than the one in its Content-Type.
    package var isOfOtherBoundary = false
    /// What is around the outermost parts.
    package var framing = Framing()
    /// Whether the message's Content-Type does not say that the body is multipart.
    package var isHidden = false

    /// The bytes between and around parts.
    package struct Framing {
        /// Sizes in bytes.
        package var preamble = 0
        package var epilogue = 0
        /// Whether the closing delimiter is there.
        package var isClosed = true
        /// How the lines of the delimiters end, in words.
        package var lineEnds = ""
    }

    /// Nil if the body is not multipart, or its parts cannot be separated.
    package init?(_ contents: BodyContents, headers: HeaderFields) throws {
        guard let type = MultipartType(headers) else {
            guard let boundary = try HiddenMultipart.boundary(contents), let body = try Self.read(contents, boundary) else { return nil }
            self.init(body, contents)
            self.isHidden = true
            return
        }
        if let boundary = type.boundary, let body = try Self.read(contents, boundary) {
            self.init(body, contents)
            return
        }
        // Most readers reject such a body, but a person who inspects it wants to see what was meant.
        var lint = MultipartLint(headers: headers)
        try contents.forEachPiece { lint.push($0) }
        guard let boundary = lint.finish().lazy.compactMap(\.proposal).first, let body = try Self.read(contents, boundary) else {
            return nil
        }
        self.init(body, contents)
        self.isOfOtherBoundary = true
    }

    private init(_ body: MultipartBody<Range<Int>>, _ contents: BodyContents) {
        self.all = []
        self.framing = Framing(
            preamble: body.preamble.count, epilogue: body.epilogue.count, isClosed: body.closing != nil,
            lineEnds: Self.lineEnds(body.parts.map(\.delimiter) + [body.closing].compactMap { $0 }))
        _ = self.list(body, offset: 0, prefix: "")
        guard let charset = body.formCharset({ try? contents.part($0).load(limit: FormCharset.longest) }) else { return }
        for index in self.all.indices { self.all[index].charset = charset }
    }

    /// `CR LF`, `LF alone` or both; the line end after the closing delimiter may be missing.
    private static func lineEnds(_ delimiters: [MultipartDelimiter]) -> String {
        var ends: Set<LineEnd> = []
        for delimiter in delimiters { ends.formUnion([delimiter.lineEndBefore, delimiter.lineEndAfter]) }
        let words = [(LineEnd.carriageReturnLineFeed, "CR LF"), (.lineFeed, "LF alone")].filter { ends.contains($0.0) }.map(\.1)
        return words.joined(separator: " and ")
    }

    private static func read(_ contents: BodyContents, _ boundary: MultipartBoundary) throws -> MultipartBody<Range<Int>>? {
        var reader = MultipartReader(boundary: boundary)
        try contents.forEachPiece { reader.push($0) }
        return reader.finish()
    }

    /// Adds up the sizes of everything around the data, since nested parts do not carry their own offsets.
    ///
    /// - Returns: the offset after the body.
    private mutating func list(_ body: MultipartBody<Range<Int>>, offset: Int, prefix: String) -> Int {
        var offset = offset + body.preamble.count
        for (index, part) in body.parts.enumerated() {
            offset += part.delimiter.bytes(boundary: body.boundary).count
            let head = offset..<offset + part.headers.bytes.count
            offset = head.upperBound
            let label = "\(prefix)\(index + 1)"
            let place = self.all.count
            switch part.content {
            case .data(let range):
                self.all.append(BodyPart(label: label, fields: part.headers.fields, head: head, data: range, isMultipart: false))
                offset = range.upperBound
            case .multipart(let inner):
                self.all.append(BodyPart(label: label, fields: part.headers.fields, head: head, data: offset..<offset, isMultipart: true))
                let end = self.list(inner, offset: offset, prefix: "\(label).")
                self.all[place].data = offset..<end
                offset = end
            }
        }
        offset += body.closing?.bytes(boundary: body.boundary).count ?? 0
        return offset + body.epilogue.count
    }

    /// By label, name or filename; the first one if several have the same name.
    package subscript(wanted: String) -> BodyPart? {
        self.all.first { $0.label == wanted } ?? self.all.first { $0.name == wanted } ?? self.all.first { $0.filename == wanted }
    }
}

/// One part of a multipart body in the form shown by views.
///
/// Knows the offsets of its bytes, but does not hold them.
package struct BodyPart {
    /// Counted from 1: `2`, and `2.1` for the first part within the second.
    package var label: String
    package var fields: HeaderFields
    /// The range of the header section.
    package var head: Range<Int>
    /// The range in the decoded body.
    package var data: Range<Int>
    /// Whether its data consists of parts, which follow it in the list.
    package var isMultipart: Bool
    /// The charset of its names, if that is not UTF-8.
    package var charset: FormCharset?

    package var disposition: ContentDisposition? { ContentDisposition(self.fields, charset: self.charset) }
    package var name: String? { self.disposition?.name }
    package var filename: String? { self.disposition?.filename }
    package var type: String? { ExchangeRow.type(self.fields) }

    /// Larger parts keep their transfer encoding; form data has none.
    private static let decodeLimit = 64 << 20

    /// The part's data, without its Content-Transfer-Encoding unless `raw`.
    package func contents(in body: BodyContents, raw: Bool = false) throws -> BodyContents {
        let contents = body.part(self.data)
        let encoding = ContentTransferEncoding(self.fields)
        guard !raw, !self.isMultipart, encoding != .identity else { return contents }
        guard let bytes = try contents.load(limit: Self.decodeLimit), let decoded = encoding.decode(bytes) else { return contents }
        return BodyContents(decoded)
    }

    /// `part 2, "avatar", file "a.png", image/png, 5.3 KB`
    package var words: String {
        var words = ["part \(self.label)"]
        if let name = self.name { words.append("\"\(name)\"") }
        if let filename = self.filename { words.append("file \"\(filename)\"") }
        if let type = self.type { words.append(type) }
        words.append(Quantity.bytes(self.data.count))
        switch ContentTransferEncoding(self.fields) {
        case .identity: break
        case .base64: words.append("in base64")
        case .quotedPrintable: words.append("in quoted-printable")
        case .other(let name): words.append("in \(name)")
        }
        return words.joined(separator: ", ")
    }
}
