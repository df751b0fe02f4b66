internal import CassetteModel
internal import TapeBytes

/// Reads the content of a body or a part out of its object; opens no files.
enum ContentDecoder {
    /// Of which an object has one, besides files.
    static let contents = ["json", "text", "base64", "form", "lines", "events", "multipart"]
    /// What stands beside them.
    static let companions = ["style", "charset", "spelling", "lineEnd", "ended", "rest"]

    /// The one content among `names` that the object has.
    static func choice(of names: [String], _ reader: ObjectReader) throws(CassetteError) -> (name: String, value: JSONValue)? {
        var content: (name: String, value: JSONValue)?
        for name in names {
            guard let value = reader[name] else { continue }
            if let first = content { throw reader.error(value, name, "expected one content: '\(first.name)' is there already") }
            content = (name, value)
        }
        return content
    }

    /// - Parameter headers: of the message or part, whose Content-Type names the boundary of a multipart.
    static func decode(_ name: String, _ value: JSONValue, _ reader: ObjectReader, headers: HeaderFields) throws(CassetteError)
        -> BodyContent
    {
        if let charset = reader["charset"], name != "text" {
            throw reader.error(charset, "charset", "expected it beside 'text' only")
        }
        switch name {
        case "json": return try self.json(value, reader)
        case "text": return try self.text(value, reader)
        case "form": return .form(try self.form(value, reader))
        case "lines": return .lines(try self.lines(value, reader))
        case "events":
            return .events(
                try EventStreamCoder.decode(value, reader, style: try self.style(reader), lineEnd: try self.lineEnd(reader)))
        case "multipart":
            let boundary = MultipartType(headers)?.boundary
            return .multipart(try MultipartDecoder.decode(value, named: boundary, reader))
        default:
            guard let text = try reader.utf8("base64"), let octets = Base64.decode(text) else {
                throw reader.error(value, "base64", "expected base64 with its padding and no line ends")
            }
            return .binary(octets)
        }
    }

    private static func json(_ value: JSONValue, _ reader: ObjectReader) throws(CassetteError) -> BodyContent {
        let style = try self.style(reader)
        let restored = value.raw.withUnsafeBytes { JSONBody.restore($0, style: style) }
        guard let octets = restored else { throw reader.error(value, "json", "expected JSON that fits its style", code: .tooLarge) }
        return .json(octets, style: style)
    }

    private static func style(_ reader: ObjectReader) throws(CassetteError) -> JSONStyle {
        guard let value = reader["style"] else { return .compact }
        if value.kind == .string {
            switch value.string {
            case "compact": return .compact
            case "spaced": return .spaced
            default: throw reader.error(value, "style", "expected 'compact', 'spaced' or an object")
            }
        }
        let style = try ObjectReader(value, reader.memberPath("style"), reader.place, known: ["indent", "colon", "comma", "tail"])
        try style.refuseUnknown()
        return JSONStyle(
            indent: try style.int("indent", in: 0...JSONBody.indentLimit), colon: try self.gap("colon", style),
            comma: try self.gap("comma", style), tail: try self.gap("tail", style))
    }

    private static func gap(_ name: String, _ reader: ObjectReader) throws(CassetteError) -> String {
        guard let value = reader[name], let text = try reader.string(name) else { return "" }
        guard text.utf8.count <= JSONBody.gapLimit, text.utf8.allSatisfy({ $0 == 32 || $0 == 9 || $0 == 10 || $0 == 13 }) else {
            throw reader.error(value, name, "expected at most \(JSONBody.gapLimit) characters of white space")
        }
        return text
    }

    private static func text(_ value: JSONValue, _ reader: ObjectReader) throws(CassetteError) -> BodyContent {
        var text: [UInt8] = []
        if value.kind == .array {
            for element in value.elements {
                guard let piece = element.utf8 else { throw reader.error(element, "text", "expected a string") }
                text.append(contentsOf: piece)
            }
        } else {
            text = try reader.utf8("text") ?? []
        }
        guard let name = try reader.string("charset"), let member = reader["charset"] else { return .text(text) }
        guard let charset = Charset.allCases.first(where: { $0.rawValue == name }) else {
            throw reader.error(member, "charset", "does not know the charset '\(name)'", code: .unsupportedVersion)
        }
        guard let octets = charset.encode(text) else {
            throw reader.error(
                value, "text", "expected characters of '\(name)' only, and a system whose iconv(3) knows it (glibc: its gconv modules)")
        }
        return .encodedText(octets, charset)
    }

    // MARK: Lists

    static func lineEnd(_ reader: ObjectReader, usual: LineEnd = .lineFeed) throws(CassetteError) -> LineEnd {
        guard let value = reader["lineEnd"] else { return usual }
        switch try reader.utf8("lineEnd") {
        case [10]: return .lineFeed
        case [13, 10]: return .carriageReturnLineFeed
        default: throw reader.error(value, "lineEnd", "expected \"\\n\" or \"\\r\\n\"")
        }
    }

    private static func lines(_ value: JSONValue, _ reader: ObjectReader) throws(CassetteError) -> JSONLines {
        guard value.kind == .array else { throw reader.error(value, "lines", "expected an array") }
        let style = try self.style(reader)
        let lines = JSONLines(
            restoring: value.elements.map(\.raw), style: style, lineEnd: try self.lineEnd(reader), isEnded: try reader.bool("ended") ?? true
        )
        guard let lines else { throw reader.error(value, "lines", "expected JSON that fits its style", code: .tooLarge) }
        return lines
    }

    private static func form(_ value: JSONValue, _ reader: ObjectReader) throws(CassetteError) -> FormText {
        guard value.kind == .array else { throw reader.error(value, "form", "expected an array") }
        var fields: [FormText.Field] = []
        for element in value.elements {
            var pair = element.elements
            guard let name = pair.next()?.string else { throw reader.error(element, "form", "expected fields as [\"name\", \"value\"]") }
            guard let next = pair.next() else {
                fields.append(FormText.Field(name: name, value: nil))
                continue
            }
            guard let content = next.string, pair.next() == nil else {
                throw reader.error(element, "form", "expected fields as [\"name\", \"value\"]")
            }
            fields.append(FormText.Field(name: name, value: content))
        }
        return FormText(fields: fields, spelling: try self.spelling(reader))
    }

    private static func spelling(_ reader: ObjectReader) throws(CassetteError) -> FormSpelling {
        guard let value = reader["spelling"] else { return .usual }
        let inner = try ObjectReader(value, reader.memberPath("spelling"), reader.place, known: ["space", "hex", "plain", "escaped"])
        try inner.refuseUnknown()
        let space = try inner.string("space") ?? "+"
        let hex = try inner.string("hex") ?? "upper"
        guard space == "+" || space == "%20" else { throw inner.error(value, "space", "expected '+' or '%20'") }
        guard hex == "upper" || hex == "lower" else { throw inner.error(value, "hex", "expected 'upper' or 'lower'") }
        let plain = try inner.utf8("plain") ?? []
        let escaped = try inner.utf8("escaped") ?? []
        guard plain.allSatisfy(FormSpelling.mayBePlain) else {
            throw inner.error(value, "plain", "expected visible ASCII characters but '&', '%' and '+'")
        }
        return FormSpelling(escapesSpace: space == "%20", usesLowerCaseHex: hex == "lower", plain: plain, escaped: escaped)
    }
}

/// Reads the parts of a multipart body; checks nothing against the boundary, which `MultipartCheck` does when octets are made of them.
enum MultipartDecoder {
    /// As deep as JSON that a body may hold leaves room for in an interaction.
    private static let depthLimit = 8
    private static let members = ["boundary", "preamble", "parts", "closing", "epilogue"]
    private static let partMembers =
        ["name", "filename", "delimiter", "headers", "head", "file", "size", "sha256", "transfer"] + ContentDecoder.contents
        + ContentDecoder.companions
    private static let partContents = ContentDecoder.contents + ["file"]

    static func decode(
        _ value: JSONValue, named boundary: MultipartBoundary?, _ reader: ObjectReader, depth: Int = 1
    ) throws(CassetteError) -> MultipartBody<PartContent> {
        guard depth <= self.depthLimit else {
            throw reader.error(value, "multipart", "expected at most \(self.depthLimit) levels", code: .tooLarge)
        }
        if value.kind == .array {
            guard let boundary else {
                throw reader.error(value, "multipart", "expected a 'Content-Type' that names a boundary, or an object with 'boundary'")
            }
            let parts = try self.parts(value, isFirst: true, reader, depth)
            let closing = MultipartBody<PartContent>.usualDelimiter(isFirst: parts.isEmpty, isClosing: true)
            return MultipartBody(boundary: boundary, parts: parts, closing: closing)
        }
        let object = try ObjectReader(value, reader.memberPath("multipart"), reader.place, known: self.members)
        try object.refuseUnknown()
        var boundary = boundary
        if let named = object["boundary"] {
            boundary = MultipartBoundary(try HeadOctets.decodeLine(named, "boundary", object))
        }
        guard let boundary else { throw object.error(value, "boundary", "expected 1 to \(MultipartBoundary.longest) octets") }
        let preamble =
            try object["preamble"].map { (value) throws(CassetteError) in try HeadOctets.decode(value, "preamble", object) } ?? []
        let parts = try self.parts(object.required("parts"), isFirst: preamble.isEmpty, object, depth)
        let usual = MultipartBody<PartContent>.usualDelimiter(isFirst: preamble.isEmpty && parts.isEmpty, isClosing: true)
        var closing: MultipartDelimiter? = usual
        if let value = object["closing"] {
            closing = value.kind == .null ? nil : try self.delimiter(value, "closing", usual: usual, object)
        }
        let epilogue =
            try object["epilogue"].map { (value) throws(CassetteError) in try HeadOctets.decode(value, "epilogue", object) } ?? []
        return MultipartBody(boundary: boundary, preamble: preamble, parts: parts, closing: closing, epilogue: epilogue)
    }

    private static func parts(
        _ value: JSONValue, isFirst: Bool, _ reader: ObjectReader, _ depth: Int
    ) throws(CassetteError) -> [MultipartPart<PartContent>] {
        guard value.kind == .array else { throw reader.error(value, "parts", "expected an array") }
        var parts: [MultipartPart<PartContent>] = []
        for element in value.elements {
            let path = "\(reader.path.isEmpty ? "" : reader.path + ".")parts[\(parts.count)]"
            let part = try ObjectReader(element, path, reader.place, known: self.partMembers)
            try part.refuseUnknown()
            parts.append(try self.part(part, isFirst: isFirst && parts.isEmpty, depth))
        }
        return parts
    }

    private static func part(_ reader: ObjectReader, isFirst: Bool, _ depth: Int) throws(CassetteError) -> MultipartPart<PartContent> {
        let usual = MultipartBody<PartContent>.usualDelimiter(isFirst: isFirst)
        let delimiter = try reader["delimiter"].map { (value) throws(CassetteError) in
            try self.delimiter(value, "delimiter", usual: usual, reader)
        }
        let headers = try self.headers(reader)
        return MultipartPart(delimiter: delimiter ?? usual, headers: headers, content: try self.content(reader, headers.fields, depth))
    }

    private static func headers(_ reader: ObjectReader) throws(CassetteError) -> PartHeaderSection {
        if let head = reader["head"] {
            guard reader["headers"] == nil else { throw reader.error(head, "head", "expected one of 'head' and 'headers'") }
            return PartHeaderSection(octets: try HeadOctets.decode(head, "head", reader))
        }
        guard let value = reader["headers"] else { return PartHeaderSection(lines: []) }
        guard value.kind == .array else { throw reader.error(value, "headers", "expected an array of field lines") }
        var lines: [[UInt8]] = []
        for element in value.elements {
            let line = try HeadOctets.decodeLine(element, "headers", reader)
            guard !line.isEmpty else { throw reader.error(element, "headers", "expected a field line: an empty line would end the head") }
            lines.append(line)
        }
        return PartHeaderSection(lines: lines)
    }

    private static func content(_ reader: ObjectReader, _ fields: HeaderFields, _ depth: Int) throws(CassetteError) -> MultipartContent<
        PartContent
    > {
        guard let (name, value) = try ContentDecoder.choice(of: self.partContents, reader) else {
            throw reader.error(reader.value, "text", "is missing: a part has a content")
        }
        let transfer = try reader["transfer"].map { (value) throws(CassetteError) in try TransferCoder.decode(value, reader) }
        guard transfer == nil || name != "file" && name != "multipart" else {
            throw reader.error(value, name, "expected content in the cassette itself beside 'transfer'")
        }
        if name == "file" {
            guard let path = try reader.path("file") else { return .data(.text([])) }
            let digest = try reader.digest("sha256") ?? SidecarName.digest(in: path) ?? ""
            return .data(.file(Sidecar(path: path, size: try reader.requiredInt("size"), sha256: digest)))
        }
        if name == "multipart" {
            return .multipart(try self.decode(value, named: MultipartType(fields)?.boundary, reader, depth: depth + 1))
        }
        let content = try ContentDecoder.decode(name, value, reader, headers: fields)
        guard let part = PartContent(content) else { throw reader.error(value, name, "expected the content of a part") }
        return .data(transfer.map { .transferEncoded(part, $0) } ?? part)
    }

    private static func delimiter(
        _ value: JSONValue, _ name: String, usual: MultipartDelimiter, _ reader: ObjectReader
    ) throws(CassetteError) -> MultipartDelimiter {
        let object = try ObjectReader(value, reader.memberPath(name), reader.place, known: ["before", "padding", "after"])
        try object.refuseUnknown()
        var delimiter = usual
        delimiter.lineEndBefore = try self.lineEnd("before", object) ?? usual.lineEndBefore
        delimiter.lineEndAfter = try self.lineEnd("after", object) ?? usual.lineEndAfter
        delimiter.padding = try object.utf8("padding") ?? []
        guard delimiter.padding.allSatisfy({ $0 == 32 || $0 == 9 }) else {
            throw object.error(value, "padding", "expected spaces and tabs")
        }
        return delimiter
    }

    private static func lineEnd(_ name: String, _ reader: ObjectReader) throws(CassetteError) -> LineEnd? {
        guard let octets = try reader.utf8(name), let value = reader[name] else { return nil }
        guard let lineEnd = LineEnd.allCases.first(where: { $0.octets == octets }) else {
            throw reader.error(value, name, "expected \"\", \"\\n\" or \"\\r\\n\"")
        }
        return lineEnd
    }
}
