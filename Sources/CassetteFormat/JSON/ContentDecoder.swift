internal import CassetteModel
internal import TapeBytes

/// Reads the content of a body or part from its object; does not open files.
enum ContentDecoder {
    /// Members of which an object has at most one, apart from files.
    static let contents = ["json", "text", "base64", "form", "lines", "events", "multipart", "grpc"]
    /// Members that accompany them.
    static let companions = ["style", "charset", "spelling", "lineEnd", "ended", "rest"]

    /// The single content among `names` that the object has.
    static func choice(of names: [String], _ reader: ObjectReader) throws(CassetteError) -> (name: String, value: JSONValue)? {
        var content: (name: String, value: JSONValue)?
        for name in names {
            guard let value = reader[name] else { continue }
            if let first = content { throw reader.error(value, name, "expected one content, found '\(first.name)' too") }
            content = (name, value)
        }
        return content
    }

    /// - Parameter headers: the header fields of the message or part, whose Content-Type has the boundary of a multipart.
    static func decode(_ name: String, _ value: JSONValue, _ reader: ObjectReader, headers: HeaderFields) throws(CassetteError)
        -> BodyContent
    {
        if let charset = reader["charset"], name != "text" {
            throw reader.error(charset, "charset", "expected it only next to 'text'")
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
        case "grpc": return .grpc(try GRPCCoder.decode(value, reader))
        default:
            guard let text = try reader.utf8("base64"), let bytes = Base64.decode(text) else {
                throw reader.error(value, "base64", "expected base64 with its padding and no line ends")
            }
            return .binary(bytes)
        }
    }

    private static func json(_ value: JSONValue, _ reader: ObjectReader) throws(CassetteError) -> BodyContent {
        let style = try self.style(reader)
        let restored = value.raw.withUnsafeBytes { JSONBody.restore($0, style: style) }
        guard let bytes = restored else { throw reader.error(value, "json", "expected JSON that fits its style", code: .tooLarge) }
        return .json(bytes, style: style)
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
            throw reader.error(member, "charset", "the charset '\(name)' is unknown", code: .unsupportedVersion)
        }
        guard let bytes = charset.encode(text) else {
            throw reader.error(
                value, "text", "expected characters of '\(name)' only, and a system whose iconv(3) supports it (glibc: its gconv modules)")
        }
        return .encodedText(bytes, charset)
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
            throw inner.error(value, "plain", "expected visible ASCII characters except '&', '%' and '+'")
        }
        return FormSpelling(escapesSpace: space == "%20", usesLowerCaseHex: hex == "lower", plain: plain, escaped: escaped)
    }
}
